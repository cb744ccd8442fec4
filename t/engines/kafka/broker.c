/* SPDX-License-Identifier: ISC */
/*
 * broker.c - a broker of Kafka for tests: librdkafka's mock cluster
 *
 * t/engines/databases.bats builds it, because it needs librdkafka. It prints the address of the
 * broker, and ends when its standard input does.
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	char text[512];
	rd_kafka_t *k = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text, sizeof(text));
	rd_kafka_mock_cluster_t *cluster = k ? rd_kafka_mock_cluster_new(k, 1) : NULL;

	if (!cluster || rd_kafka_mock_topic_create(cluster, "records", 4, 1))
		return 111;
	printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
	fflush(stdout);
	while (read(0, text, sizeof(text)) > 0)
		;
	rd_kafka_mock_cluster_destroy(cluster);
	rd_kafka_destroy(k);
	return 0;
}
