import type { Listed, Records } from '../../../api.ts'
import { ActButton, Button, Field, Form, Switch } from '../../../components/Form.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { State } from '../../../components/State.tsx'
import { Fold, Secret } from '../../../components/settings.tsx'
import { flag, listPage, optional, words } from '../../../fields.ts'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare, text } from '../../../page.ts'

interface Data {
  runners: Listed<Records['Runner'][]>
}

const stateOf = ({ paused, status }: Records['Runner']) =>
  paused ? 'skipped' : status === 'online' ? 'active' : status

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api, query }) => ({ runners: api.list('/runners/all', listPage(query)) }),
  title: () => 'Runners',
  View: ({ runners }) => (
    <>
      <h1>Runners</h1>
      <p class="quiet">Machines that run the jobs of pipelines.</p>
      <Secret name="token" label="Token of the new runner" />
      <Fold title="Make a runner for all projects" action="create">
        <Form action="create" resets>
          <Field name="description" label="Description" />
          <Field name="tag_list" label="Tags" hint="Words, with commas between them." />
          <Switch name="run_untagged" label="Runs jobs without tags too" isOn />
          <Button kind="main">Make runner</Button>
        </Form>
      </Fold>
      {runners.items.length === 0 ? (
        <Empty title="No runners yet">
          <p>Make one, and give its token to the runner program on your machine.</p>
        </Empty>
      ) : (
        <Rows label="Runners">
          {runners.items.map((runner) => (
            <Row
              key={runner.id}
              lead={<State of={stateOf(runner)} isShort />}
              title={`#${runner.id} ${runner.description ?? ''}`}
              facts={`${runner.runner_type.replace('_type', '')} · ${runner.paused ? 'paused' : runner.status.replaceAll('_', ' ')}${runner.ip_address ? ` · ${runner.ip_address}` : ''}`}
              aside={
                <>
                  <ActButton action={runner.paused ? 'resume' : 'pause'} fields={{ runner: runner.id }}>
                    {runner.paused ? 'Resume' : 'Pause'}
                  </ActButton>
                  <ActButton action="remove" fields={{ runner: runner.id }} kind="danger" confirm="Remove the runner?">
                    Remove
                  </ActButton>
                </>
              }
            />
          ))}
        </Rows>
      )}
      <Pages of={runners} />
    </>
  ),
  actions: {
    async create({ api, form }) {
      const made = await api.post('/user/runners', {
        runner_type: 'instance_type',
        description: optional(form, 'description'),
        tag_list: words(form, 'tag_list'),
        run_untagged: flag(form, 'run_untagged'),
      })
      return { told: { token: made.token } }
    },
    async pause({ api, form }) {
      await api.put('/runners/{runner_id}', { runner_id: text(form, 'runner'), paused: true })
    },
    async resume({ api, form }) {
      await api.put('/runners/{runner_id}', { runner_id: text(form, 'runner'), paused: false })
    },
    async remove({ api, form }) {
      await api.delete('/runners/{runner_id}', { runner_id: text(form, 'runner') })
    },
  },
})
