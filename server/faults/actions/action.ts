/** An action: one way to make a response, a connection or a state fail on purpose. */
import type { Socket } from 'node:net';
import * as v from 'valibot';
import type { WebSocket } from 'ws';
import type { VendorNames } from '../../../fixtures/contract/vendor-names.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import type { Call } from '../call.ts';
import type { AnswerHead, HeldAnswer } from '../held-answer.ts';
import type { Wire } from '../wire.ts';

/** Before the handler (nothing happened), after it (the state changed), or inside the answer. */
export const phases = ['before', 'after', 'body'] as const;
export type Phase = (typeof phases)[number];

/** The action has answered, or the request continues normally. */
export type Outcome = 'answered' | 'go-on';

/** What an action works with. */
export interface ActionContext {
  readonly call: Call;
  readonly tenant: Tenant;
  readonly names: VendorNames;
  readonly wire: Wire;
  /** Aborts when the caller has disconnected, or the rule was removed. */
  readonly signal: AbortSignal;
}

/** What an action on an open websocket works with. */
export interface SocketActionContext {
  readonly socket: WebSocket;
  /** What the websocket runs over. */
  readonly connection: Socket;
  readonly tenant: Tenant;
  /** Aborts when the rule was cleared. */
  readonly signal: AbortSignal;
  /** Counts the fault as fired. */
  readonly fired: () => void;
  /** Returns a fault that could not fire to its rule; does nothing once it has fired. */
  readonly missed: () => void;
}

type Given<Entries extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<Entries, undefined>>;

/** One row of the table. Its methods `execute`, `transform` and `onSocket` decide when it acts. */
export interface Action<Entries extends v.ObjectEntries = v.ObjectEntries> {
  readonly kind: string;
  /** One sentence for authors of plans. */
  readonly does: string;
  readonly entries: Entries;
  /** The phases that the action fits; the first one applies unless the rule names another. */
  readonly phases: readonly [Phase, ...Phase[]];
  /** Whether there is something for it to do in this request. */
  applies?(given: Given<Entries>, call: Call): boolean;
  /** Changes the request before the handler sees it; of acts inside the answer. */
  prepare?(given: Given<Entries>, context: ActionContext): void;
  /** Before the handler, or instead of its answer. */
  execute?(given: Given<Entries>, context: ActionContext): Promise<Outcome>;
  /** Whether there is something for it to do in this answer. */
  fits?(given: Given<Entries>, head: AnswerHead, call: Call): boolean;
  /** Writes the handler's answer in its own way. */
  transform?(given: Given<Entries>, context: ActionContext, answer: HeldAnswer): Promise<void>;
  onSocket?(given: Given<Entries>, context: SocketActionContext): void;
}

/** Infers the types of the entries in the methods. */
export function defineAction<const Entries extends v.ObjectEntries>(row: Action<Entries>): Action {
  return row as unknown as Action;
}

/** The shape of whole numbers within bounds. */
export function whole(least: number, most: number) {
  const sentence = `must be a whole number from ${least} to ${most}`;
  return v.pipe(
    v.number(sentence),
    v.integer(sentence),
    v.minValue(least, sentence),
    v.maxValue(most, sentence),
  );
}

/** The shape of texts up to a length. */
export function textUpTo(most: number) {
  const sentence = `must be a string of at most ${most} characters`;
  return v.pipe(v.string(sentence), v.maxCodePoints(most, sentence));
}
