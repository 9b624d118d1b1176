/** What a bundle of the host begins with: its stack traces lead to the sources, and then it is the host. */
import './stack-traces.ts';
import './main.ts';
