/** What a driver is opened with, and what images are built from: the settings of each runtime are its own. */
import type { Log } from '#runtime/log.ts';
import type { HostSettings } from '../host-environment.ts';
import type { KubernetesConfig } from '../kubernetes/kubernetes-config.ts';
import type { SandboxChoice } from '../process/sandbox.ts';

export type ProcessConfig = {
  runtime: 'process';
  /** The Python that hosts run user code with, and the PATH on which it is found. */
  python: string;
  path: string;
  /** What stands between hosts; `auto`: bubblewrap where it works. */
  sandbox: SandboxChoice;
  /** The program of Chromium; absent: where the machine usually has it. */
  chromium?: string | undefined;
};

export type DockerConfig = {
  runtime: 'docker';
  /** `DOCKER_HOST`; absent: the usual sockets. */
  engine: string | undefined;
  /** Where the usual sockets of a user lie. */
  home: string | undefined;
  /** The image that world hosts run, and that of browsers; absent: the one built from this tree. */
  image: string | undefined;
  browserImage?: string | undefined;
  /** What that image is built on; absent: what can be had. */
  baseImage: string | undefined;
};

/** What a runtime needs to make containers, apart from what a host is told. */
export type RuntimeConfig = KubernetesConfig | ProcessConfig | DockerConfig;

/** Whose hosts a driver makes, and what they are told. */
export type DriverOptions = { installation: string; host: HostSettings; log: Log };

export type ImageBuild = Pick<DockerConfig, 'engine' | 'home' | 'baseImage'> & {
  /** What images are called besides, each by its repository. */
  names: ((repository: string) => string) | undefined;
};
