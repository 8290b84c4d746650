import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** HDFS with one data node in one process; its arguments are a directory and the port of the HTTP interface. */
public class Hdfs {
    public static void main(String[] arguments) throws Exception {
        Configuration settings = new Configuration();
        settings.set("dfs.namenode.fs-limits.min-block-size", "1024");
        settings.set("dfs.permissions.enabled", "false");
        settings.set("dfs.datanode.handler.count", "4");
        File directory = new File(arguments[0]);
        new MiniDFSCluster.Builder(settings, directory)
                .numDataNodes(1)
                .nameNodeHttpPort(Integer.parseInt(arguments[1]))
                .build()
                .waitClusterUp();
        Files.writeString(Path.of(arguments[0], "ready"), "ready");
        System.in.read(); // The input ends when the test's process has ended in any way.
        Runtime.getRuntime().halt(0); // Nobody needs what the servers would write at their end.
    }
}
