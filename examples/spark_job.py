"""An archive of runs, checked on a cluster: spark-submit spark_job.py OUTPUT FILE|DIR|URL..."""

import sys

from pyspark.sql import SparkSession

from ebbtide.batch.spark import check_files

if __name__ == "__main__":
    output, *names = sys.argv[1:]
    spark = SparkSession.builder.appName("ebbtide").getOrCreate()
    check_files(spark, names, most_seconds=300).write.parquet(output)
