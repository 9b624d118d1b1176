/** Who the host is towards the control plane, shared by all that speak in its name. */
export type HostIdentity = {
  readonly hostId: string;
  /** At first that of the launch; assignments and their ends raise it. */
  generation: number;
  /** The session that it was given, until that is closed: every line of the log names it. */
  sessionId?: string | undefined;
};
