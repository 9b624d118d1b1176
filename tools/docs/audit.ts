/**
 * `make audit`: lists known vulnerabilities of the packages that are shipped, from the registry that npm uses. Exits
 * with 0 when none is known, with 1 when some are, and with 2 when the registry gives no answer.
 */
import { spawnSync } from 'node:child_process';

type Report = {
  error?: { summary?: string };
  message?: string;
  metadata?: { vulnerabilities: Record<string, number> };
  vulnerabilities?: Record<string, { name: string; severity: string; range: string }>;
};

const words = ['audit', '--omit=dev', '--json'];
const { stdout, stderr } = spawnSync('npm', words, { encoding: 'utf8' });

const read = (): Report => {
  try {
    return JSON.parse(stdout) as Report;
  } catch {
    return { message: stderr.trim().split('\n').at(-1) ?? '' };
  }
};

const { error, message, metadata, vulnerabilities = {} } = read();
if (metadata === undefined) {
  const said = error?.summary || message || 'nothing';
  console.log(`not known: the registry answers no audit (npm says: ${said})`);
  process.exitCode = 2;
} else {
  for (const { name, severity, range } of Object.values(vulnerabilities)) {
    console.log(`${severity}: ${name} ${range}`);
  }
  console.log(`${metadata.vulnerabilities.total ?? 0} known flaws of packages that are shipped`);
  process.exitCode = (metadata.vulnerabilities.total ?? 0) > 0 ? 1 : 0;
}
