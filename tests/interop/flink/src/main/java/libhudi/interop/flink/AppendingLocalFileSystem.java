/* SPDX-License-Identifier: Apache-2.0 */
package libhudi.interop.flink;

import java.io.EOFException;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/**
 * The local disk under a scheme that Hudi knows as able to append (maprfs).
 *
 * <p>On "file:" Hudi 0.10 opens a new log version for each flush. On a file system that can append it puts
 * further blocks behind the last one in the same log file, as on HDFS. This class brings that second
 * behaviour to a plain folder.
 */
public class AppendingLocalFileSystem extends RawLocalFileSystem {
  private static final URI NAME = URI.create("maprfs:///");

  @Override
  public URI getUri() {
    return NAME;
  }

  @Override
  public String getScheme() {
    return "maprfs";
  }

  @Override
  public void initialize(URI uri, Configuration conf) throws IOException {
    super.initialize(NAME, conf);
    setConf(conf);
  }

  /** As on HDFS, a seek behind the end fails at once: that is how Hudi 0.10 notices a log block cut short. */
  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return new FSDataInputStream(new Bounded(super.open(path, bufferSize), getFileStatus(path).getLen()));
  }

  private static final class Bounded extends FSInputStream {
    private final FSDataInputStream in;
    private final long length;

    Bounded(FSDataInputStream in, long length) {
      this.in = in;
      this.length = length;
    }

    @Override
    public void seek(long pos) throws IOException {
      if (pos > length) {
        throw new EOFException("seek to " + pos + " in a file of " + length + " bytes");
      }
      in.seek(pos);
    }

    @Override
    public long getPos() throws IOException {
      return in.getPos();
    }

    @Override
    public boolean seekToNewSource(long target) {
      return false;
    }

    @Override
    public int read() throws IOException {
      return in.read();
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
      return in.read(b, off, len);
    }

    @Override
    public int available() throws IOException {
      return in.available();
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  /** The parent's status objects look up owner and mode through "file:" URIs alone. */
  private FileStatus plain(FileStatus s) {
    return new FileStatus(s.getLen(), s.isDirectory(), s.getReplication(), s.getBlockSize(), s.getModificationTime(),
        makeQualified(s.getPath()));
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return plain(super.getFileStatus(path));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    FileStatus[] list = super.listStatus(path);
    for (int i = 0; i < list.length; i++) {
      list[i] = plain(list[i]);
    }
    return list;
  }

  @Override
  public Path getHomeDirectory() {
    return makeQualified(new Path("/"));
  }
}
