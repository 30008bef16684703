/** A defect at work in a proxy: whose exchanges it touches, and whether it changed anything yet. */
import { isDeepStrictEqual } from 'node:util';
import type { Frame } from '../target/frames.ts';
import type {
  Ask,
  Defect,
  Line,
  Mutation,
  ProxiedAnswer,
  ProxiedOperation,
  ProxiedRequest,
  Side,
} from './defect.ts';

/** Whether a defect sees the exchanges of the operation; undefined is a request that is none. */
export function touches({ operations }: Defect, operation: ProxiedOperation | undefined): boolean {
  return operations === 'all' || (operation !== undefined && operations.includes(operation));
}

/** One planting of a defect. */
export class ActiveDefect {
  readonly defect: Defect;
  readonly #mutation: Mutation;
  #changes = 0;

  constructor(defect: Defect) {
    this.defect = defect;
    this.#mutation = defect.mutation();
  }

  /** How often something passed otherwise than it came. */
  get changes(): number {
    return this.#changes;
  }

  /** Whether hooks see the exchanges of the operation; undefined is a request that is none. */
  touches(operation: ProxiedOperation | undefined): boolean {
    return touches(this.defect, operation);
  }

  get seesAnswers(): boolean {
    return this.#mutation.answer !== undefined;
  }

  get seesFrames(): boolean {
    return this.#mutation.frame !== undefined;
  }

  /** What is sent in place of the request, or the answer to it. */
  async request(request: ProxiedRequest, ask: Ask): Promise<ProxiedRequest | ProxiedAnswer> {
    return this.#counted(request, (await this.#mutation.request?.(request, ask)) ?? request);
  }

  async answer(answer: ProxiedAnswer, request: ProxiedRequest, ask: Ask): Promise<ProxiedAnswer> {
    return this.#counted(answer, (await this.#mutation.answer?.(answer, request, ask)) ?? answer);
  }

  /** What passes each chunk of an answer on; undefined when chunks pass as they are. */
  chunksOf(request: ProxiedRequest): ((chunk: Buffer) => Buffer) | undefined {
    const mutation = this.#mutation;
    if (mutation.chunk === undefined) return undefined;
    return (chunk) => this.#counted(chunk, mutation.chunk?.(chunk, request) ?? chunk);
  }

  /** The frames that go on in place of this one; the frame itself when it passes as it is. */
  frame(frame: Frame, from: Side, line: Line): Frame | readonly Frame[] {
    return this.#counted(frame, this.#mutation.frame?.(frame, from, line) ?? frame);
  }

  /** Whether the end of one side's connection ends the other one too. */
  ended(from: Side, line: Line): boolean {
    return this.#counted(true, this.#mutation.ended?.(from, line) ?? true);
  }

  /** What came out of a hook; what went in when the two are equal. */
  #counted<In, Out>(given: In, made: In | Out): In | Out {
    if (isDeepStrictEqual(given, made)) return given;
    this.#changes += 1;
    return made;
  }
}
