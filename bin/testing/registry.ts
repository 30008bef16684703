/** Whether npm reaches a package registry, which some nightly tests need. */
import { spawnSync } from 'node:child_process';

const PING_MAX_MS = 15_000;

/** Returns true when a registry answers to npm; else prints one line about what is skipped. */
export function reachesRegistry(skipped: string): boolean {
  const { status } = spawnSync('npm', ['ping', '--fetch-retries=0'], { timeout: PING_MAX_MS });
  if (status === 0) return true;
  process.stderr.write(`no registry answers to npm ping; skipped: ${skipped}\n`);
  return false;
}
