/** Applies a fault to one exchange: before the handler, or to its response. */
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { Interception } from '../pipeline/interception.ts';
import type { Log } from '../pipeline/log.ts';
import type { Tenant } from '../tenants/tenants.ts';
import type { ActionContext, ActionOutcome } from './actions/action.ts';
import { writeRest } from './actions/connections.ts';
import type { FaultCall } from './call.ts';
import type { ChosenFault } from './fault-plans.ts';
import { HeldResponse } from './held-response.ts';
import { actionOf } from './rule.ts';
import { type HeaderPairs, ResponseWire } from './wire.ts';

interface InjectionOptions {
  readonly fault: ChosenFault;
  readonly call: FaultCall;
  readonly tenant: Tenant;
  readonly headerNames: VendorNames;
  readonly log: Log;
  /** Called once with the status that the caller sees, or 0 if it sees none. */
  readonly onStatusSent: (status: number) => void;
}

/** Runs the action of one planned fault on one request. */
export class Injection implements Interception {
  readonly #options: InjectionOptions;
  readonly #context: ActionContext;
  readonly #aborter = new AbortController();
  readonly #abort = (): void => this.#aborter.abort();
  readonly #onClose = (): void => {
    this.#abort();
    this.#options.fault.reportMissed();
  };
  #isHolding = false;
  #isStatusReported = false;

  constructor(options: InjectionOptions) {
    this.#options = options;
    const { fault, call, tenant, headerNames } = options;
    const wire = new ResponseWire({
      exchange: call.exchange,
      mark: this.#mark,
      onStatusSent: (status) => this.#reportStatus(status),
    });
    wire.socket.once('close', this.#onClose);
    fault.signal.addEventListener('abort', this.#abort, { once: true });
    this.#context = { call, tenant, headerNames, wire, signal: this.#aborter.signal };
  }

  /** True while the pipeline's response is held back and not sent to the caller. */
  get isHolding(): boolean {
    return this.#isHolding;
  }

  /**
   * Header lines that name the fault in the handler's own response, if the fault lets that through.
   */
  get addedHeaders(): HeaderPairs {
    return this.#options.fault.when === 'before' ? this.#mark : [];
  }

  get #mark(): HeaderPairs {
    const { fault, headerNames } = this.#options;
    return fault.isUnmarked ? [] : [[headerNames.testbed.fault, fault.ruleId]];
  }

  /** Runs the part of the fault before the handler. @returns whether the request continues */
  async begin(): Promise<ActionOutcome> {
    const { fault, call, log } = this.#options;
    const { action, when, ruleId } = fault;
    const { request, record, requestId } = call.exchange;
    log.info(
      `planned fault ${ruleId}: ${action.kind}, ${request.method} ${record.url} (${requestId})`,
    );
    const row = actionOf(action);
    record.fault = { name: ruleId, act: action.kind, when, alters: row.alters };
    row.prepare?.(action, this.#context);
    if (when !== 'before') {
      if (!row.onSocket) this.#hold();
      return 'continue';
    }
    fault.reportFired();
    try {
      const outcome = (await row.execute?.(action, this.#context)) ?? 'continue';
      if (outcome === 'response-sent') this.#reportStatus(0);
      return outcome;
    } finally {
      this.#removeListeners();
    }
  }

  /**
   * Called with the status of the response. A socket fault is missed if no WebSocket was opened.
   */
  recordResponse(status: number): void {
    if (status !== 101 && actionOf(this.#options.fault.action).onSocket) this.#reportNotFired();
  }

  /** Returns the fault's effect on a WebSocket. If it has none, the fault is missed. */
  onUpgrade(): ReturnType<Interception['onUpgrade']> {
    const { fault, tenant } = this.#options;
    const { onSocket } = actionOf(fault.action);
    if (!onSocket) {
      if (fault.when !== 'before') this.#reportNotFired();
      return { headers: this.addedHeaders };
    }
    this.#removeListeners();
    const { reportFired, reportMissed, signal } = fault;
    const connection = this.#context.wire.socket;
    return {
      headers: this.#mark,
      opened: (socket) =>
        onSocket(fault.action, { socket, connection, tenant, signal, reportFired, reportMissed }),
    };
  }

  #reportNotFired(): void {
    const { fault, call } = this.#options;
    fault.reportMissed();
    this.#isHolding = false;
    call.exchange.record.fault = undefined;
    this.#context.wire.unmark();
    this.#removeListeners();
  }

  #removeListeners(): void {
    this.#context.wire.socket.off('close', this.#onClose);
    this.#options.fault.signal.removeEventListener('abort', this.#abort);
  }

  #reportStatus(status: number): void {
    if (this.#isStatusReported) return;
    this.#isStatusReported = true;
    this.#isHolding = false;
    this.#options.onStatusSent(status);
  }

  #hold(): void {
    this.#isHolding = true;
    const { exchange } = this.#context.call;
    const response = new HeldResponse(exchange.response);
    this.#release(response).catch((error: unknown) => {
      this.#options.log.error(`planned fault ${this.#options.fault.ruleId}`, error);
      exchange.response.destroy();
    });
  }

  async #release(response: HeldResponse): Promise<void> {
    const { fault, call } = this.#options;
    const { action } = fault;
    const row = actionOf(action);
    const head = await response.head;
    if (fault.when === 'after') {
      fault.reportFired();
      const outcome = await row.execute?.(action, this.#context);
      if (outcome === 'response-sent') response.discard();
      else await this.#pass(response);
    } else if (row.transform && (row.fits?.(action, head, call) ?? true)) {
      fault.reportFired();
      await row.transform(action, this.#context, response);
      response.discard();
    } else {
      this.#reportNotFired();
      await this.#pass(response);
    }
    this.#reportStatus(0);
    this.#removeListeners();
  }

  /** Sends the handler's response unchanged. */
  async #pass(response: HeldResponse): Promise<void> {
    const { wire } = this.#context;
    const { status, headers } = await response.head;
    wire.head(status, headers);
    await writeRest({ wire }, response);
    await wire.end();
  }
}
