/** The exchanges that show violations, as a report contains them: with secrets masked. */
import type { ClientExchange, HeaderList } from '../../../../conformance/clients/client-event.ts';
import { maskHeaders, maskText } from '../../../../server/http/masking.ts';
import type { Stage } from './stage.ts';

/** Characters of a body that a report contains. */
const BODY_MAX_CHARACTERS = 2000;
const EXCHANGES_MAX = 20;

/** An exchange in a report. */
export interface ShownExchange {
  readonly sequence: number;
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: HeaderList;
  readonly requestBody: string;
  /** 0 if nothing was answered. */
  readonly status: number;
  readonly responseBody: string;
  /** Names of the planned faults and variations that changed the answer. */
  readonly interference: readonly string[];
}

/** Returns the exchanges of a scene that the violations refer to, in their order. */
export function evidenceOf({ verdict, events }: Stage): readonly ShownExchange[] {
  const sequences = (verdict?.duties ?? []).flatMap(({ violations }) =>
    violations.flatMap(({ sequence, against }) => [sequence, against ?? 0]),
  );
  return [...new Set(sequences)]
    .toSorted((one, other) => one - other)
    .slice(0, EXCHANGES_MAX)
    .flatMap((sequence) => {
      const event = events.all[sequence - 1]?.event;
      return event?.kind === 'exchange' ? [shown(event)] : [];
    });
}

function shown(exchange: ClientExchange): ShownExchange {
  const { sequence, method, url, status, requestHeaders, interference } = exchange;
  return {
    ...{ sequence, method, status, interference },
    url: maskText(url),
    requestHeaders: maskHeaders(requestHeaders.flat()),
    requestBody: textOf(exchange.requestBody),
    responseBody: textOf(exchange.responseBody),
  };
}

function textOf(body: Buffer | undefined): string {
  if (body === undefined) return '';
  const text = body.toString('utf8', 0, 4 * BODY_MAX_CHARACTERS).slice(0, BODY_MAX_CHARACTERS);
  return maskText(text);
}
