#include "cluster/slurm_files.hpp"

#include <fmt/format.h>

#include "cluster/node.hpp"

namespace quadrille::cluster {

std::string slurm_file(const std::string& name) {
  return fmt::format("{}/slurm/{}", shared_memory, name);
}

std::string slurm_configuration(const Options& options) {
  std::string text = fmt::format(
      "ClusterName=quadrille\n"
      "SlurmctldHost={}\n"
      "SlurmUser=root\n"
      "AuthType=auth/munge\n"
      "AuthInfo=socket={}\n"
      "StateSaveLocation={}\n"
      "SlurmdSpoolDir={}\n"
      "SlurmctldPidFile={}\n"
      "SlurmdPidFile={}\n",
      node_name(0), slurm_file("munge.socket"), slurm_file("state"), slurm_file("spool"), slurm_file("slurmctld.pid"),
      slurm_file("slurmd.pid"));
  // The daemons log to stderr, nothing to the machine's syslog.
  text +=
      "SlurmctldSyslogDebug=quiet\n"
      "SlurmdSyslogDebug=quiet\n"
      "MailProg=/bin/true\n";
  // The nodes share /tmp, where PMIx would give their servers one and the same folder.
  text += fmt::format("TmpFS={}\n", shared_memory);
  // Nothing that takes control groups, which belong to the machine.
  text +=
      "ProctrackType=proctrack/linuxproc\n"
      "TaskPlugin=task/none\n"
      "JobAcctGatherType=jobacct_gather/none\n"
      "SelectType=select/cons_tres\n"
      "SelectTypeParameters=CR_Core\n";
  if (options.racks > 0) text += "TopologyPlugin=topology/tree\n";
  // A node that is cut off is down to Slurm within a minute, and may return once it registers again.
  text +=
      "SlurmdTimeout=30\n"
      "ReturnToService=2\n";
  // As many cores as slots, whatever the machine has.
  text += fmt::format(
      "SlurmdParameters=config_overrides\n"
      "NodeName=node[0-{}] CPUs={} Sockets=1 CoresPerSocket={} ThreadsPerCore=1\n"
      "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
      options.nodes - 1, options.slots, options.slots);
  return text;
}

std::string slurm_topology(const Options& options) {
  std::string text;
  int first = 0;
  for (int rack = 0; rack < options.racks; ++rack) {
    int end = first;
    while (end < options.nodes && rack_of(options, end) == rack) ++end;
    text += fmt::format("SwitchName=rack{} Nodes=node[{}-{}]\n", rack, first, end - 1);
    first = end;
  }
  return text + fmt::format("SwitchName=core Switches=rack[0-{}]\n", options.racks - 1);
}

}  // namespace quadrille::cluster
