/** Who the host is towards the control plane, shared by all that speak in its name. */
export type Standing = {
  readonly hostId: string;
  /** Of the launch at first; assignments and their ends raise it. */
  generation: number;
};
