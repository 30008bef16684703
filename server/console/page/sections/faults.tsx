/**
 * Lists planned faults and which of them have fired, and the variations; adds faults, and
 * switches variations.
 */
import { useState } from 'preact/hooks';
import { operationIds } from '../../../../fixtures/contract/operation-ids.ts';
import type { VariationName } from '../../../../fixtures/contract/variation-names.ts';
import type { ResponseOf } from '../../../../fixtures/control/operations.ts';
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Choice } from '../../../../fixtures/page/field.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { request, requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import { ActionButton } from '../parts/action.tsx';
import { View } from '../parts/view.tsx';

type PlannedRule = ResponseOf<'GET /faults'>['rules'][number];

export default function FaultsSection() {
  const loaded = useLoaded(() => requestJson('GET /faults'), 'faults', {
    isLive: true,
  });
  return (
    <>
      <h1>Faults and variations</h1>
      <PlanForm onDone={loaded.reload} />
      <View subject="the planned faults" loaded={loaded}>
        {({ rules }) => <Planned rules={rules} reload={loaded.reload} />}
      </View>
      <VariationList />
    </>
  );
}

/** Actions that answer with a status. The server supplies the names of all other actions. */
const statuses = [500, 502, 503, 429, 401, 404].map(
  (status) => [`{ kind: respond, status: ${status} }`, `respond ${status}`] as const,
);
const counts = [
  ['once', 'once'],
  ['{ next: 5 }', 'for the next 5 requests'],
  ['until-cleared', 'until it is removed'],
] as const;

/** Returns the names of the actions from the JSON schema of fault plans. */
async function loadNames(): Promise<readonly string[]> {
  const schema = (await requestJson('GET /faults/schema')) as PlanSchema;
  const { anyOf } = schema.properties.rules.items.properties.act;
  return anyOf.find((each) => each.enum)?.enum ?? [];
}

interface PlanSchema {
  readonly properties: {
    readonly rules: {
      readonly items: {
        readonly properties: {
          readonly act: { readonly anyOf: readonly { readonly enum?: readonly string[] }[] };
        };
      };
    };
  };
}

function PlanForm({ onDone }: { onDone: () => void }) {
  const [operation, setOperation] = useState('get-next-deployment');
  const [action, setAction] = useState('{ kind: respond, status: 502 }');
  const [times, setTimes] = useState('once');
  const [draft, setDraft] = useState('');
  const { data: names = [] } = useLoaded(loadNames, 'fault schema');
  const add = async (): Promise<void> => {
    await request('POST /faults', { body: draft });
    setDraft('');
    onDone();
  };
  const build = (): void => {
    const rule = [
      `  - match: { operation: ${operation} }`,
      `    act: ${action}`,
      `    times: ${times}`,
    ].join('\n');
    setDraft(`${draft === '' ? 'rules:\n' : draft}${rule}\n`);
  };
  return (
    <Card title="Plan faults">
      <div class="filters">
        <Choice
          label="Operation"
          value={operation}
          choices={operationIds}
          onChoose={setOperation}
        />
        <Choice
          label="What happens"
          value={action}
          choices={[...statuses, ...names]}
          onChoose={setAction}
        />
        <Choice label="How often" value={times} choices={counts} onChoose={setTimes} />
        <button type="button" class="kit-button" onClick={build}>
          Add to the plan
        </button>
      </div>
      <label class="kit-field">
        Plan (YAML or JSON)
        <textarea
          rows={8}
          value={draft}
          spellcheck={false}
          onInput={(event) => setDraft(event.currentTarget.value)}
        />
      </label>
      <div class="actions">
        <ActionButton
          kind="main"
          work={add}
          done="The faults are planned."
          isDisabled={draft.trim() === ''}
        >
          Plan
        </ActionButton>
      </div>
    </Card>
  );
}

function Planned({ rules, reload }: { rules: readonly PlannedRule[]; reload: () => void }) {
  const clear = (query: { readonly id?: string }) => async (): Promise<void> => {
    await request('DELETE /faults', { query });
    reload();
  };
  if (rules.length === 0) return <Empty title="No planned faults" />;
  return (
    <Card
      title={`${rules.length} planned`}
      aside={
        <ActionButton
          kind="danger"
          work={clear({})}
          done="All planned faults were removed."
          asks={{
            title: 'Remove every rule?',
            text: 'No more faults will be injected.',
            action: 'Remove',
          }}
        >
          Remove all
        </ActionButton>
      }
    >
      <Table
        caption="Planned faults"
        isCaptionHidden
        rows={rules}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Rule', cell: ({ id }) => id },
          {
            title: 'Fired',
            cell: ({ fired, matched }) => (
              <>
                <Badge tone={fired > 0 ? 'positive' : 'plain'}>{fired} times</Badge> of {matched}{' '}
                matching requests
              </>
            ),
          },
          { title: 'Left', cell: ({ left }) => left ?? 'no end' },
          { title: 'Matches', cell: ({ rule }) => <code>{JSON.stringify(rule.match ?? {})}</code> },
          {
            title: 'Does',
            cell: ({ rule }) => <code>{JSON.stringify(rule.act ?? rule.script)}</code>,
          },
          {
            title: 'Actions',
            cell: ({ id }) => (
              <ActionButton kind="small" work={clear({ id })} done={`${id} was removed.`}>
                Remove
              </ActionButton>
            ),
          },
        ]}
      />
    </Card>
  );
}

function VariationList() {
  const loaded = useLoaded(() => requestJson('GET /variations'), 'variations', { isLive: true });
  const choose = async (variations: VariationName[]): Promise<void> => {
    await request('PUT /variations', { body: { variations } });
    loaded.reload();
  };
  const toggle = async (id: VariationName): Promise<void> => {
    // The list on the page may be older than the last change.
    const { variations } = await requestJson('GET /variations');
    const isWanted = (each: (typeof variations)[number]): boolean => each.isOn !== (each.id === id);
    await choose(variations.filter(isWanted).map((each) => each.id));
  };
  const reset = async (): Promise<void> => {
    await request('DELETE /variations');
    loaded.reload();
  };
  return (
    <View subject="the variations" loaded={loaded}>
      {({ seed, variations }) => (
        <Card title="Variations">
          <p>
            {variations.filter(({ isOn }) => isOn).length} of {variations.length} on
            {seed !== null && `, with the seed “${seed}”`}. A variation that is switched here
            applies to every response that it fits, of all tenants.
          </p>
          <div class="actions">
            <ActionButton work={() => choose([])} done="All variations are off.">
              Switch all off
            </ActionButton>
            <ActionButton work={reset} done="Variations are as at the start of the server.">
              Reset variations
            </ActionButton>
          </div>
          <Table
            caption="Variations"
            isCaptionHidden
            rows={variations}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Variation', cell: ({ id }) => id },
              {
                title: 'State',
                cell: ({ isOn }) => (
                  <Badge tone={isOn ? 'positive' : 'plain'}>{isOn ? 'On' : 'Off'}</Badge>
                ),
              },
              { title: 'What varies', cell: ({ varies }) => varies },
              { title: 'Allowed by', cell: ({ rule }) => rule },
              {
                title: 'Actions',
                cell: ({ id, isOn }) => (
                  <ActionButton
                    kind="small"
                    work={() => toggle(id)}
                    done={`${id} is ${isOn ? 'off' : 'on'}.`}
                  >
                    {isOn ? 'Switch off' : 'Switch on'}
                  </ActionButton>
                ),
              },
            ]}
          />
        </Card>
      )}
    </View>
  );
}
