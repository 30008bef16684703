/**
 * A shell with its terminal: it takes typed bytes and returns the bytes to display. The output
 * depends only on the input, the clock and the device's files.
 */
import { CommandSyntaxError, parseCommandLine, type Redirection } from './command-line.ts';
import { type CommandResult, runCommand, type ShellContext } from './commands.ts';
import { absolutePath, FileError } from './files.ts';
import { type EditorResult, LineEditor } from './line-editor.ts';

/** Screen size in characters. */
export interface TerminalSize {
  readonly height: number;
  readonly width: number;
}

/** Maximum bytes of output that one message can cause. */
const SCREEN_MAX_BYTES = 2 ** 18;
const HOME = '/root';
const SYNTAX_STATUS = 2;
const INTERRUPTED_STATUS = 130;
const LINE_END = '\r\n';

/** A running shell of a device. */
export class DeviceShell {
  readonly #context: ShellContext;
  readonly #editor = new LineEditor();
  #screen: Buffer[] = [];
  #screenBytes = 0;
  /** True once the user has left the shell with `exit` or Ctrl-D. */
  hasEnded = false;

  constructor(context: Pick<ShellContext, 'clock' | 'facts' | 'files'>, size: TerminalSize) {
    const variables = new Map(Object.entries({ HOME, PWD: HOME, SHELL: '/bin/sh', USER: 'root' }));
    this.#context = { ...context, variables, workingFolder: HOME };
    variables.set('?', '0');
    this.resize(size);
  }

  /** Returns the output that precedes any input: the prompt. */
  begin(): Buffer {
    this.#show(this.#prompt());
    return this.#shown();
  }

  /** Processes typed bytes and returns the resulting output. */
  type(bytes: Uint8Array): Buffer {
    for (const input of this.#editor.type(bytes)) {
      if (this.hasEnded || this.#isOverfull()) break;
      this.#act(input);
    }
    return this.#shown();
  }

  resize({ height, width }: TerminalSize): void {
    this.#context.variables.set('LINES', String(height)).set('COLUMNS', String(width));
  }

  #act(typed: EditorResult): void {
    if (typed.kind === 'echo') this.#show(typed.text);
    else if (typed.kind === 'end') this.#leave(`exit${LINE_END}`);
    else if (typed.kind === 'interrupt') this.#interrupt();
    else this.#enter(typed.text);
  }

  #interrupt(): void {
    this.#context.variables.set('?', String(INTERRUPTED_STATUS));
    this.#show(`^C${LINE_END}${this.#prompt()}`);
  }

  #enter(line: string): void {
    this.#show(LINE_END);
    this.#runLine(line);
    if (!this.hasEnded) this.#show(this.#prompt());
  }

  #leave(text: string): void {
    this.#show(text);
    this.hasEnded = true;
  }

  #runLine(line: string): void {
    try {
      const { args, redirection } = parseCommandLine(line, (name) => this.#valueOf(name));
      this.#finish(runCommand(args, this.#context), redirection);
    } catch (error) {
      if (!(error instanceof CommandSyntaxError || error instanceof FileError)) throw error;
      this.#context.variables.set('?', String(SYNTAX_STATUS));
      this.#print(`${error.message}\n`);
    }
  }

  #finish({ output, errors, status, exits }: CommandResult, redirection?: Redirection): void {
    this.#context.variables.set('?', String(status));
    if (redirection === undefined) this.#print(output);
    else this.#writeTo(redirection, output);
    for (const line of errors) this.#print(`${line}\n`);
    if (exits) this.#leave('');
  }

  #writeTo(redirection: Redirection, output: Buffer): void {
    const { files, workingFolder } = this.#context;
    const path = absolutePath(redirection.path, workingFolder);
    try {
      const presentText = redirection.appends && files.exists(path) ? files.read(path) : '';
      files.write(path, Buffer.concat([Buffer.from(presentText), output]));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      throw new FileError(`sh: can't create ${redirection.path}: ${error.message}`);
    }
  }

  #valueOf(name: string): string {
    return this.#context.variables.get(name) ?? '';
  }

  #prompt(): string {
    const { facts, workingFolder } = this.#context;
    const shownFolder = `${workingFolder}/`.startsWith(`${HOME}/`)
      ? `~${workingFolder.slice(HOME.length)}`
      : workingFolder;
    return `root@${facts.hostname}:${shownFolder}# `;
  }

  /** Prints text, with line feeds converted to the CR LF that a terminal needs. */
  #print(text: string | Buffer): void {
    const bytes = Buffer.from(text);
    this.#show(Buffer.from(bytes.toString('latin1').replaceAll('\n', LINE_END), 'latin1'));
  }

  #show(text: string | Buffer): void {
    const bytes = Buffer.from(text);
    this.#screenBytes += bytes.length;
    this.#screen.push(bytes);
  }

  #isOverfull(): boolean {
    return this.#screenBytes > SCREEN_MAX_BYTES;
  }

  /** Returns the output since the last call. Output beyond the limit is replaced by a note. */
  #shown(): Buffer {
    const output = Buffer.concat(this.#screen);
    const isCut = this.#isOverfull();
    this.#screen = [];
    this.#screenBytes = 0;
    if (!isCut) return output;
    const notice = `${LINE_END}sh: output cut after ${SCREEN_MAX_BYTES} bytes${LINE_END}`;
    const end = this.hasEnded ? '' : this.#prompt();
    return Buffer.concat([output.subarray(0, SCREEN_MAX_BYTES), Buffer.from(notice + end)]);
  }
}
