/** Entry point of the host's bundle: installs source maps for stack traces, then starts the host. */
import './stack-traces.ts';
import './main.ts';
