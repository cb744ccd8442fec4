/* SPDX-License-Identifier: ISC */
/*
 * netlink.h - queueing disciplines and filters of devices, by rtnetlink(7)
 *
 * The numbers are the kernel's (include/uapi/linux/rtnetlink.h, pkt_sched.h,
 * pkt_cls.h), written here for libcs without those headers.
 */
#ifndef NETLINK_H
#define NETLINK_H

#include <stdint.h>

/*
 * A program at a device's egress by the queueing discipline clsact, for kernels
 * without TCX, in the network namespace of the caller. All return 0 or -errno,
 * silent; tc_has_clsact and tc_filters 1 for yes and the number of filters.
 */
int tc_has_clsact(unsigned device);
int tc_add_clsact(unsigned device);
int tc_remove_clsact(unsigned device);
/* Filters of the device's clsact, either way. */
int tc_filters(unsigned device);
int tc_add_program(unsigned device, unsigned priority, uint32_t handle, int program,
		   const char *name);
int tc_remove_program(unsigned device, unsigned priority, uint32_t handle);

#endif
