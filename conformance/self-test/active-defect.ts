/** A defect that is active in a proxy, with the number of messages that it has changed. */
import { isDeepStrictEqual } from 'node:util';
import type { Frame } from '../target/frames.ts';
import type {
  Alteration,
  Defect,
  FrameSide,
  FrameTunnel,
  ProxiedOperation,
  ProxiedRequest,
  ProxiedResponse,
  SendToTarget,
} from './defect.ts';

/**
 * Returns true if a defect sees exchanges of the operation, which is undefined for a
 * request that matches no operation.
 */
export function affectsOperation(
  { operations }: Pick<Defect, 'operations'>,
  operation: ProxiedOperation | undefined,
): boolean {
  return operations === 'all' || (operation !== undefined && operations.includes(operation));
}

/** The members of a defect that a proxy reads. */
type PlantedDefect = Pick<Defect, 'operations' | 'alter'>;

/** One activation of a defect. */
export class ActiveDefect {
  readonly #defect: PlantedDefect;
  readonly #alteration: Alteration;
  #changes = 0;

  constructor(defect: PlantedDefect) {
    this.#defect = defect;
    this.#alteration = defect.alter();
  }

  /** Number of messages that the defect changed. */
  get changes(): number {
    return this.#changes;
  }

  /** Returns true if the defect sees exchanges of the operation: see `affectsOperation`. */
  touches(operation: ProxiedOperation | undefined): boolean {
    return affectsOperation(this.#defect, operation);
  }

  get seesResponses(): boolean {
    return this.#alteration.response !== undefined;
  }

  get seesFrames(): boolean {
    return this.#alteration.frame !== undefined;
  }

  /** Returns the request to send in place of this one, or a response to it. */
  async alterRequest(
    request: ProxiedRequest,
    send: SendToTarget,
  ): Promise<ProxiedRequest | ProxiedResponse> {
    return this.#counted(request, (await this.#alteration.request?.(request, send)) ?? request);
  }

  async alterResponse(
    response: ProxiedResponse,
    request: ProxiedRequest,
    send: SendToTarget,
  ): Promise<ProxiedResponse> {
    return this.#counted(
      response,
      (await this.#alteration.response?.(response, request, send)) ?? response,
    );
  }

  /**
   * Returns the function that forwards each chunk of a response; undefined when chunks are not
   * changed.
   */
  chunksOf(request: ProxiedRequest): ((chunk: Buffer) => Buffer) | undefined {
    const alteration = this.#alteration;
    if (alteration.chunk === undefined) return undefined;
    return (chunk) => this.#counted(chunk, alteration.chunk?.(chunk, request) ?? chunk);
  }

  /**
   * Returns the frames to forward in place of this one, or the frame itself when it is unchanged.
   */
  alterFrame(frame: Frame, from: FrameSide, line: FrameTunnel): Frame | readonly Frame[] {
    return this.#counted(frame, this.#alteration.frame?.(frame, from, line) ?? frame);
  }

  /** Returns true when the end of one side's connection also ends the other. */
  endsOtherSide(from: FrameSide, line: FrameTunnel): boolean {
    return this.#counted(true, this.#alteration.ended?.(from, line) ?? true);
  }

  /** Returns the altered message and counts it as a change if it differs from the input. */
  #counted<In, Out>(given: In, made: In | Out): In | Out {
    if (isDeepStrictEqual(given, made)) return given;
    this.#changes += 1;
    return made;
  }
}
