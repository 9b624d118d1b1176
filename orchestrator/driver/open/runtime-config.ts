/** Settings with which a driver is opened, and from which images are built. Each runtime has settings of its own. */
import type { Log } from '#runtime/log.ts';
import type { HostSettings } from '../host-environment.ts';
import type { KubernetesConfig } from '../kubernetes/kubernetes-config.ts';
import type { SandboxChoice } from '../process/sandbox.ts';

export type ProcessConfig = {
  runtime: 'process';
  /** Python with which hosts run user code, and the PATH on which it is found. */
  python: string;
  path: string;
  /** Sandbox that isolates hosts from one another; `auto`: bubblewrap where it works. */
  sandbox: SandboxChoice;
  /** Executable of Chromium; its usual path on the machine if absent. */
  chromium?: string | undefined;
};

export type DockerConfig = {
  runtime: 'docker';
  /** `DOCKER_HOST`; if absent, the usual sockets are tried. */
  engine: string | undefined;
  /** Home folder, below which a user's own engine listens. */
  home: string | undefined;
  /** Images of world hosts and of browsers; if absent, the images built from the source tree. */
  image: string | undefined;
  browserImage?: string | undefined;
  /** Base of the image built from the source tree; if absent, the first base that can be pulled or made. */
  baseImage: string | undefined;
};

/** Settings with which a runtime makes containers; the environment of hosts is not part of them. */
export type RuntimeConfig = KubernetesConfig | ProcessConfig | DockerConfig;

/** Options of every driver: the installation whose hosts it launches, and the settings of those hosts. */
export type DriverOptions = { installation: string; host: HostSettings; log: Log };

export type ImageBuild = Pick<DockerConfig, 'engine' | 'home' | 'baseImage'> & {
  /** Returns an additional name of an image, by its repository. */
  names: ((repository: string) => string) | undefined;
};
