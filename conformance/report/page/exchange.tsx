/** A request and its response as recorded. */
import { Group } from '../../../fixtures/page/group.tsx';
import { TextBlock } from '../../../fixtures/page/text-block.tsx';
import type { MessageFacts, ShownExchange } from '../page-facts.ts';

/** Renders a line with the request and its outcome, and both messages below. */
export function ExchangeBlock({ exchange }: { exchange: ShownExchange }) {
  const { startMs, elapsedMs, request, response, failure } = exchange;
  const outcome = response === undefined ? (failure ?? 'no response') : String(response.status);
  return (
    <Group
      kind="plain"
      summary={
        <>
          <code>{request.line}</code> → {outcome}{' '}
          <span class="report-hint">
            at {startMs} ms, {elapsedMs} ms
          </span>
        </>
      }
    >
      <TextBlock text={[request.line, ...messageLines(request)].join('\n')} />
      <TextBlock text={[outcome, ...(response ? messageLines(response) : [])].join('\n')} />
    </Group>
  );
}

function messageLines({ headers, body }: MessageFacts): readonly string[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return body === undefined ? lines : [...lines, '', body];
}
