/** An action: one way to make a response, a connection or a state fail on purpose. */
import type { Socket } from 'node:net';
import * as v from 'valibot';
import type { WebSocket } from 'ws';
import type { VendorNames } from '../../../fixtures/contract/vendor-names.ts';
import type { FaultAlteration } from '../../../fixtures/control/client-event.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import type { FaultCall } from '../call.ts';
import type { HeldResponse, ResponseHead } from '../held-response.ts';
import type { ResponseWire } from '../wire.ts';

/**
 * When an action runs: before the handler (nothing has happened yet), after it (the state has
 * changed), or inside the body of the response.
 */
export const injectionPoints = ['before', 'after', 'body'] as const;
export type InjectionPoint = (typeof injectionPoints)[number];

/** The result of an action: it has sent the response, or the request continues normally. */
export type ActionOutcome = 'response-sent' | 'continue';

/** The request and the services that an action can use. */
export interface ActionContext {
  readonly call: FaultCall;
  readonly tenant: Tenant;
  readonly headerNames: VendorNames;
  readonly wire: ResponseWire;
  /** Aborts if the caller disconnects or the rule is removed. */
  readonly signal: AbortSignal;
}

/** The open WebSocket and the services that an action can use. */
export interface SocketActionContext {
  readonly socket: WebSocket;
  /** The connection under the WebSocket. */
  readonly connection: Socket;
  readonly tenant: Tenant;
  /** Aborts if the rule is cleared. */
  readonly signal: AbortSignal;
  /** Reports that the fault has fired. */
  readonly reportFired: () => void;
  /**
   * Reports that the fault could not fire, which returns it to its rule. Has no effect after
   * `fired`.
   */
  readonly reportMissed: () => void;
}

type ActionInput<Entries extends v.ObjectEntries> = v.InferOutput<
  v.ObjectSchema<Entries, undefined>
>;

/**
 * A row of the table of actions. Its methods `execute`, `transform` and `onSocket` determine when
 * it acts.
 */
export interface Action<Entries extends v.ObjectEntries = v.ObjectEntries> {
  readonly kind: string;
  /** One sentence for authors of fault plans. */
  readonly does: string;
  readonly entries: Entries;
  /**
   * The injection points that the action supports. The first one applies unless the rule names
   * another.
   */
  readonly injectionPoints: readonly [InjectionPoint, ...InjectionPoint[]];
  /** The part of the response that the action alters; by it the client judge knows what to expect. */
  readonly alters?: FaultAlteration;
  /** Returns true if the action can do something in this request. */
  applies?(given: ActionInput<Entries>, call: FaultCall): boolean;
  /** Changes the request before the handler sees it. Used by actions that act on the response. */
  prepare?(given: ActionInput<Entries>, context: ActionContext): void;
  /** Acts before the handler, or in place of its response. */
  execute?(given: ActionInput<Entries>, context: ActionContext): Promise<ActionOutcome>;
  /** Returns true if the action can do something in this response. */
  fits?(given: ActionInput<Entries>, head: ResponseHead, call: FaultCall): boolean;
  /** Writes the handler's response in changed form. */
  transform?(
    given: ActionInput<Entries>,
    context: ActionContext,
    response: HeldResponse,
  ): Promise<void>;
  onSocket?(given: ActionInput<Entries>, context: SocketActionContext): void;
}

/** Defines an action, and infers the types of its entries in the methods. */
export function defineAction<const Entries extends v.ObjectEntries>(row: Action<Entries>): Action {
  return row as unknown as Action;
}

/** Returns the shape of whole numbers from `min` to `max`. */
export function whole(min: number, max: number) {
  const sentence = `must be a whole number from ${min} to ${max}`;
  return v.pipe(
    v.number(sentence),
    v.integer(sentence),
    v.minValue(min, sentence),
    v.maxValue(max, sentence),
  );
}

/** Returns the shape of strings of at most `max` characters. */
export function textUpTo(max: number) {
  const sentence = `must be a string of at most ${max} characters`;
  return v.pipe(v.string(sentence), v.maxCodePoints(max, sentence));
}
