/**
 * The commands of the device's shell. They act on the simulated device's facts and in-memory files,
 * and never on the machine that runs the simulator.
 */
import type { Clock } from '../../../fixtures/base/clock.ts';
import type { DeviceDescription } from './connect-environment.ts';
import { absolutePath, type DeviceFiles, FileError, fileLimits } from './files.ts';

/** The simulated device as the shell's commands see it. */
export interface ShellContext {
  readonly clock: Clock;
  readonly facts: DeviceDescription;
  readonly files: DeviceFiles;
  /** Shell variables; `?` is the status of the last command. */
  readonly variables: Map<string, string>;
  workingFolder: string;
}

export interface CommandResult {
  readonly output: Buffer;
  /** Error lines for the terminal; a redirection does not apply to them. */
  readonly errors: readonly string[];
  /** Exit status of the command; 0 on success. */
  readonly status: number;
  /** True when the shell must exit. */
  readonly exits: boolean;
}

type Flags = ReadonlySet<string>;

interface CommandRun {
  readonly context: ShellContext;
  readonly flags: Flags;
  /** Arguments that are not flags. */
  readonly operands: readonly string[];
  out(content: string | Buffer): void;
  error(text: string): void;
}

interface ShellCommandRow {
  readonly usage: string;
  /** Letters that the command accepts as flags. */
  readonly flags?: string;
  readonly run: (run: CommandRun) => void;
}

const NOT_FOUND_STATUS = 127;

const commands: Readonly<Record<string, ShellCommandRow>> = {
  cat: { usage: 'cat FILE...', run: cat },
  cd: { usage: 'cd [FOLDER]', run: cd },
  date: { usage: 'date', run: ({ context, out }) => out(`${dateText(context.clock.now())}\n`) },
  echo: { usage: 'echo [-n] [TEXT...]', flags: 'n', run: echo },
  env: { usage: 'env', run: env },
  exit: { usage: 'exit', run: () => undefined },
  help: { usage: 'help', run: ({ out }) => out(`${usages().join('\n')}\n`) },
  hostname: { usage: 'hostname', run: ({ context, out }) => out(`${context.facts.hostname}\n`) },
  ls: { usage: 'ls [-al] [PATH...]', flags: 'al1', run: ls },
  mkdir: { usage: 'mkdir [-p] FOLDER...', flags: 'p', run: mkdir },
  pwd: { usage: 'pwd', run: ({ context, out }) => out(`${context.workingFolder}\n`) },
  rm: { usage: 'rm [-rf] PATH...', flags: 'rf', run: rm },
  uname: { usage: 'uname [-a]', flags: 'asnrm', run: uname },
  whoami: { usage: 'whoami', run: ({ out }) => out('root\n') },
};

/**
 * Runs one command.
 * @param args name and arguments of the command; an empty list does nothing
 */
export function runCommand(args: readonly string[], context: ShellContext): CommandResult {
  const [name, ...commandArgs] = args;
  if (name === undefined) return { output: Buffer.alloc(0), errors: [], status: 0, exits: false };
  const row = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (row === undefined) return failureResult(`sh: ${name}: not found`, NOT_FOUND_STATUS);
  const output: Buffer[] = [];
  let outputBytes = 0;
  const errors: string[] = [];
  const { flags, operands, unknownFlag } = splitArguments(commandArgs, row.flags ?? '');
  if (unknownFlag !== undefined)
    return failureResult(`${name}: invalid option -- '${unknownFlag}'`, 1);
  row.run({
    context,
    flags,
    operands,
    out: (content) => {
      outputBytes += content.length;
      if (outputBytes > fileLimits.fileMaxBytes) throw new FileError('File too large');
      output.push(typeof content === 'string' ? Buffer.from(content) : content);
    },
    error: (text) => errors.push(`${name}: ${text}`),
  });
  const status = errors.length > 0 ? 1 : 0;
  return { output: Buffer.concat(output), errors, status, exits: name === 'exit' };
}

function failureResult(error: string, status: number): CommandResult {
  return { output: Buffer.alloc(0), errors: [error], status, exits: false };
}

/**
 * Splits arguments into flags and operands. Flags must come first. For a command without flags
 * every argument is an operand.
 */
function splitArguments(
  commandArgs: readonly string[],
  knownLetters: string,
): {
  readonly flags: Flags;
  readonly operands: readonly string[];
  readonly unknownFlag?: string;
} {
  const isFlag = (argument: string): boolean => knownLetters !== '' && /^-\w/.test(argument);
  const end = commandArgs.findIndex((argument) => !isFlag(argument));
  const flags = commandArgs.slice(0, end < 0 ? commandArgs.length : end);
  const operands = commandArgs.slice(flags.length);
  const letters = flags.flatMap((argument) => [...argument.slice(1)]);
  const unknownFlag = letters.find((letter) => !knownLetters.includes(letter));
  return {
    flags: new Set(letters),
    operands,
    ...(unknownFlag === undefined ? {} : { unknownFlag }),
  };
}

function usages(): string[] {
  return Object.values(commands).map(({ usage }) => usage);
}

/** Runs `callback` for each path. A FileError is reported and does not stop the remaining paths. */
function eachPath(run: CommandRun, callback: (path: string, displayPath: string) => void): void {
  for (const operand of run.operands) {
    try {
      callback(absolutePath(operand, run.context.workingFolder), operand);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      run.error(`${operand}: ${error.message}`);
    }
  }
}

function cat(run: CommandRun): void {
  if (run.operands.length === 0) run.error('a file is needed: there is no input to read');
  eachPath(run, (path) => run.out(run.context.files.read(path)));
}

function cd(run: CommandRun): void {
  const { context, operands } = run;
  const [to = context.variables.get('HOME') ?? '/', ...more] = operands;
  if (more.length > 0) run.error('too many arguments');
  else
    eachPath({ ...run, operands: [to] }, (path) => {
      if (!context.files.stat(path).isFolder) throw new FileError('Not a directory');
      context.variables.set('OLDPWD', context.workingFolder);
      context.variables.set('PWD', path);
      context.workingFolder = path;
    });
}

function echo({ flags, operands, out }: CommandRun): void {
  out(operands.join(' ') + (flags.has('n') ? '' : '\n'));
}

function env({ context, out }: CommandRun): void {
  const pairs = [...context.variables].filter(([name]) => name !== '?').sort();
  out(pairs.map(([name, value]) => `${name}=${value}\n`).join(''));
}

function ls(run: CommandRun): void {
  const { files } = run.context;
  const paths = run.operands.length === 0 ? ['.'] : run.operands;
  eachPath({ ...run, operands: paths }, (path, operand) => {
    if (!files.stat(path).isFolder) return run.out(listing(run, [[operand, path]]));
    if (paths.length > 1) run.out(`${operand}:\n`);
    const names = files.list(path).filter((name) => run.flags.has('a') || !name.startsWith('.'));
    run.out(
      listing(
        run,
        names.map((name) => [name, `${path}/${name}`]),
      ),
    );
  });
}

function listing(
  { context, flags }: CommandRun,
  rows: readonly (readonly [string, string])[],
): string {
  const lines = rows.map(([name, path]) => {
    if (!flags.has('l')) return name;
    const { isFolder, mode, uid, gid, sizeBytes, modifiedMs } = context.files.stat(path);
    const rights = (isFolder ? 'd' : '-') + rightsText(mode);
    const size = String(sizeBytes).padStart(8);
    const when = new Date(modifiedMs).toISOString().slice(0, 16).replace('T', ' ');
    return `${rights} ${owner(uid)} ${owner(gid)} ${size} ${when} ${name}`;
  });
  return lines.map((line) => `${line}\n`).join('');
}

function rightsText(mode: number): string {
  return [...'rwxrwxrwx'].map((right, bit) => (mode & (0o400 >> bit) ? right : '-')).join('');
}

function owner(id: number): string {
  return (id === 0 ? 'root' : String(id)).padEnd(8);
}

function mkdir(run: CommandRun): void {
  const { files } = run.context;
  if (run.operands.length === 0) run.error('missing operand');
  eachPath(run, (path) => {
    if (!run.flags.has('p')) return files.makeFolder(path);
    const parts = path.split('/');
    for (let depth = 2; depth <= parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/');
      if (!files.exists(folder)) files.makeFolder(folder);
      else if (!files.stat(folder).isFolder) throw new FileError('Not a directory');
    }
  });
}

function rm(run: CommandRun): void {
  const { files } = run.context;
  if (run.operands.length === 0 && !run.flags.has('f')) run.error('missing operand');
  eachPath(run, (path) => {
    if (run.flags.has('f') && !files.exists(path)) return;
    const { isFolder } = files.stat(path);
    if (isFolder && !run.flags.has('r')) throw new FileError('Is a directory');
    if (isFolder && `${run.context.workingFolder}/`.startsWith(`${path}/`)) {
      throw new FileError('Device or resource busy');
    }
    files.remove(path);
  });
}

function uname({ context, flags, out }: CommandRun): void {
  const parts: readonly (readonly [string, string])[] = [
    ['s', 'Linux'],
    ['n', context.facts.hostname],
    ['r', '6.6.0-simulated'],
    ['m', 'armv7l'],
  ];
  const wantedLetters = flags.size === 0 ? new Set('s') : flags;
  const wantedParts = parts.filter(
    ([letter]) => wantedLetters.has('a') || wantedLetters.has(letter),
  );
  out(`${wantedParts.map(([, text]) => text).join(' ')}\n`);
}

/** Formats a time as the `date` command does: `Sat Jan 31 12:00:00 UTC 2026`. */
function dateText(atMs: number): string {
  const [weekday, day, month, year, time] = new Date(atMs).toUTCString().split(/[, ]+/);
  return `${weekday} ${month} ${day} ${time} UTC ${year}`;
}
