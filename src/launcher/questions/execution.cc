#include "launcher/questions/execution.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace agentrt::launcher {
namespace {

constexpr std::size_t kFirstBytes = 255;  // of a file; the kernel detects the format in these
// Depth of interpreters that are scripts themselves, as in the kernel.
constexpr int kNestedMax = 5;
constexpr std::size_t kCompareBytes = 64 * 1024;

std::string first_bytes(int file) {
  char bytes[kFirstBytes];
  const ssize_t size = ::pread(file, bytes, sizeof(bytes), 0);
  return {bytes, size > 0 ? static_cast<std::size_t>(size) : 0};
}

// Parses the #! line as the kernel does: the interpreter and at most one argument. Empty: not a
// script.
std::vector<std::string> interpreter_of(std::string_view bytes) {
  constexpr std::string_view kBlank = " \t";
  if (!bytes.starts_with("#!")) return {};
  std::string_view line =
      bytes.substr(2, bytes.find('\n') == bytes.npos ? bytes.npos : bytes.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  line = line.substr(0, line.find_last_not_of(kBlank) + 1);
  if (line.empty()) return {};
  const std::size_t end = std::min(line.find_first_of(kBlank), line.size());
  std::vector<std::string> out = {std::string(line.substr(0, end))};
  line.remove_prefix(end);
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  if (!line.empty()) out.emplace_back(line);
  return out;
}

std::string place(pid_t process, const char* name) {
  return "/proc/" + std::to_string(process) + "/" + name;
}

// Opens a path as the process resolves it.
Fd open_for(pid_t process, const std::string& path) {
  const Fd root(::open(place(process, "root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_NO_MAGICLINKS | RESOLVE_IN_ROOT;
  return Fd(static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof(how))));
}

bool same_file(int a, int b) {
  struct stat one{}, other{};
  return ::fstat(a, &one) == 0 && ::fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

bool same_bytes(int a, int b) {
  const std::unique_ptr<char[]> bytes(new (std::nothrow) char[2 * kCompareBytes]);
  if (!bytes) return false;
  char* const other = bytes.get() + kCompareBytes;
  for (off_t at = 0;;) {
    const ssize_t size = ::pread(a, bytes.get(), kCompareBytes, at);
    if (size < 0 || ::pread(b, other, kCompareBytes, at) != size) return false;
    if (size == 0) return true;
    if (std::memcmp(bytes.get(), other, static_cast<std::size_t>(size)) != 0) return false;
    at += size;
  }
}

// Whether the arguments of the process start with `words`.
bool begins_with(pid_t process, const std::vector<std::string>& words) {
  std::string expected;
  for (const std::string& word : words) expected.append(word).push_back('\0');
  const Fd file(::open(place(process, "cmdline").c_str(), O_RDONLY | O_CLOEXEC));
  std::string found(expected.size(), '\0');
  std::size_t have = 0;
  while (have < found.size()) {
    const ssize_t size = ::read(file.get(), found.data() + have, found.size() - have);
    if (size <= 0) return false;
    have += static_cast<std::size_t>(size);
  }
  return found == expected;
}

}  // namespace

// Whether the kernel loaded the program that it would have loaded from the copy.
bool Execution::is_approved(pid_t loaded) const {
  const Fd program(::open(place(loaded, "exe").c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes = first_bytes(copy.get());
  if (!bytes.starts_with("#!"))
    return program &&
           bytes.starts_with(
               "\x7f"
               "ELF") &&
           same_bytes(program.get(), copy.get());
  std::vector<std::string> words = {text};
  Fd interpreter;
  for (int depth = 0; bytes.starts_with("#!"); ++depth) {
    const std::vector<std::string> line = interpreter_of(bytes);
    if (line.empty() || line.front()[0] != '/' || depth == kNestedMax) return false;
    words.insert(words.begin(), line.begin(), line.end());
    interpreter = open_for(loaded, line.front());
    if (!interpreter) return false;
    bytes = first_bytes(interpreter.get());
  }
  return program && same_file(program.get(), interpreter.get()) && begins_with(loaded, words);
}

bool Execution::let_through() const {
  seccomp_notif_resp reply{};
  reply.id = question;
  reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  return ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &reply) == 0;
}

void Execution::answer(int error) const {
  seccomp_notif_resp reply{};
  reply.id = question;
  reply.error = -error;
  ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

void Execution::refuse() const {
  const std::string text_and_end = refusal + '\0';
  (void)!::write(tell.get(), text_and_end.data(), text_and_end.size());
}

void Execution::run() {
  const auto trace = [&](__ptrace_request what, unsigned long data = 0) {
    return ::ptrace(what, process, nullptr, data) == 0;
  };
  if (!trace(PTRACE_SEIZE, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) {
    refuse();
    return answer(EACCES);
  }
  // If the execve fails, PTRACE_INTERRUPT stops the process and follow() detaches from it.
  if (!let_through()) answer(EACCES);
  (void)trace(PTRACE_INTERRUPT);
  follow();
}

void Execution::follow() const {
  int status = 0;
  for (;;) {
    // Wait for any tracee of this thread: a thread that calls execve takes the pid of its process.
    const pid_t stopped = ::waitpid(-1, &status, __WALL | __WNOTHREAD);
    if (stopped < 0 && errno == EINTR) continue;
    if (stopped < 0 || !WIFSTOPPED(status)) return;
    const int event = status >> 16;
    if (event == 0) {  // signal delivery: pass the signal on
      ::ptrace(PTRACE_CONT, stopped, nullptr, static_cast<unsigned long>(WSTOPSIG(status)));
      continue;
    }
    if (event == PTRACE_EVENT_EXEC && !is_approved(stopped)) {
      ::kill(stopped, SIGKILL);
      refuse();
    }
    ::ptrace(PTRACE_DETACH, stopped, nullptr, nullptr);
    return;
  }
}

}  // namespace agentrt::launcher
