"""An archive of runs, checked on a cluster: spark-submit spark_job.py OUTPUT FILE|DIR|URL..."""

import sys

from pyspark.sql import SparkSession

from ebbtide import Prices
from ebbtide.batch.spark.spark_archive import check_files
from ebbtide.supervision.run_options import RunOptions

if __name__ == "__main__":
    output, *names = sys.argv[1:]
    spark = SparkSession.builder.appName("ebbtide").getOrCreate()
    options = RunOptions(prices=Prices())  # the public ones, as the commands do
    check_files(spark, names, options, most_seconds=300).write.parquet(output)
