/* Time. */
#ifndef ODC_CLOCK_H
#define ODC_CLOCK_H

double odc_now(void); /* seconds on the monotonic clock, which all processes of a host share */

void odc_sleep(double seconds); /* less than one */

#endif
