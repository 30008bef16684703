/** Settings, environment, capabilities, waivers, problems and untested MUSTs of the run. */
import { Card } from '../../../fixtures/page/card.tsx';
import { Facts } from '../../../fixtures/page/facts.tsx';
import { Table } from '../../../fixtures/page/table.tsx';
import type { PageFacts } from '../page-facts.ts';

/** Renders the facts about the run itself. */
export function Run({ facts }: { facts: PageFacts }) {
  const { settings, environment, target, suite, runId, seed, startedAt, durationMs } = facts;
  const knownFacts = { ...target, suite: `${suite.name} ${suite.version}`, runId, seed, startedAt };
  const pairs = { ...knownFacts, durationMs, ...settings, ...environment };
  return (
    <div class="report-stack" id="run">
      <Card title="Run">
        <Facts rows={Object.entries(pairs).map(([name, value]) => [name, optionText(value)])} />
      </Card>
      <Records
        title="Capabilities of the target"
        rows={facts.capabilities}
        columns={['capability', 'declared', 'probed', 'evidence', 'contradiction']}
      />
      <Records title="Problems" rows={facts.problems} columns={['code', 'text']} />
      <Records
        title="MUSTs that were not tested"
        rows={facts.musts.undecidedMusts}
        columns={['id', 'reason']}
      />
      <Records
        title="Waivers"
        rows={facts.waivers}
        columns={['caseId', 'state', 'reason', 'owner', 'expires']}
      />
      <Records
        title="Left behind"
        rows={facts.leftBehind.map((resource) => ({ resource }))}
        columns={['resource']}
      />
    </div>
  );
}

function Records({
  title,
  rows,
  columns,
}: {
  title: string;
  rows: readonly object[];
  columns: readonly string[];
}) {
  const values = rows.map((row) => new Map<string, unknown>(Object.entries(row)));
  return (
    <Card title={title}>
      {rows.length === 0 ? (
        <p class="report-hint">None.</p>
      ) : (
        <Table
          caption={`Table: ${title}`}
          isCaptionHidden
          rows={values}
          keyOf={(_, index) => index}
          columns={columns.map((name) => ({
            title: name,
            cell: (row: ReadonlyMap<string, unknown>) => optionText(row.get(name)),
          }))}
        />
      )}
    </Card>
  );
}

function optionText(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
