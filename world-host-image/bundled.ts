/** Entry point of the host's bundle: maps stack traces to the sources first, then starts the host. */
import './stack-traces.ts';
import './main.ts';
