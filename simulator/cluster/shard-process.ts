/** A child process that runs one shard, as its parent uses it. */
import { fork } from 'node:child_process';
import type { CoordinatorMessage, ShardAssignment, WorkerMessage } from './messages.ts';
import type { ParentMessage } from './parent-channel.ts';

/** Callbacks for the messages and the end of a shard process. */
export interface ShardProcessListener {
  onMessage(message: WorkerMessage): void;
  /**
   * Called once when the process has ended.
   * @param how a predicate such as `was ended by SIGKILL`
   */
  onEnd(how: string): void;
}

/** A shard process. Its owner must kill it if it does not end by itself. */
export interface ShardProcess {
  readonly pid: number | undefined;
  send(message: CoordinatorMessage): void;
  /** Kills the process immediately. */
  kill(): void;
}

/** Starts a process that runs a shard. */
export function startShardProcess(
  assignment: ShardAssignment,
  listener: ShardProcessListener,
): ShardProcess {
  const [, script = ''] = process.argv;
  const child = fork(script, ['run-shard'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  let hasEnded = false;
  const end = (how: string): void => {
    if (!hasEnded) listener.onEnd(how);
    hasEnded = true;
  };
  child.on('message', (message: WorkerMessage) => listener.onMessage(message));
  child.once('exit', (code, signal) => {
    end(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`);
  });
  child.on('error', (error) => end(`could not be reached: ${error.message}`));
  const send = (message: ParentMessage): void => {
    // A process that has exited receives nothing; the `exit` event reports its end.
    if (child.connected) child.send(message, () => undefined);
  };
  send({ type: 'assignment', assignment });
  return { pid: child.pid, send, kill: () => child.kill('SIGKILL') };
}
