/** Runners of a project, a group or the whole instance, and how to add one. */
import type { ComponentChildren } from 'preact'
import type { Api, Records } from '../api.ts'
import { useSurroundings } from '../surroundings.ts'
import { flag, optional, words } from '../fields.ts'
import { text, type Act, type Me, type Flash } from '../page.ts'
import { Copyable } from './CloneBox.tsx'
import { ActButton, Button, Field, Form, Switch } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Row, Rows } from './lists.tsx'

type Runner = Records['Runner']
export type RunnersScope = 'project' | 'group' | 'instance'

interface RunnersProps {
  place: RunnersScope
  runners: readonly Runner[]
  /** The URL of the server. */
  server: string
  me: Me | null
  /** A note about the runners. */
  note?: ComponentChildren
  /** Links to further pages. */
  pages?: ComponentChildren
  /** Other ways to add a runner. */
  children?: ComponentChildren
}

export function Runners({ place: scope, runners, server, me, note, pages, children }: RunnersProps) {
  const { told } = useSurroundings()
  const Heading = scope === 'instance' ? 'h1' : 'h2'
  return (
    <section id="runners">
      <Heading>Runners</Heading>
      {told.runner_token && (
        <div class="card ci-told" role="status">
          <p>Runner created. Copy the token now. The token is not shown again.</p>
          <Copyable label="Token" text={told.runner_token} />
          <pre tabIndex={0}>{`MORTISE_RUNNER_TOKEN=${told.runner_token} mortise runner --server ${server}`}</pre>
        </div>
      )}
      {note}
      {runners.length === 0 ? (
        <p class="quiet">{NONE[scope]}</p>
      ) : (
        <Rows label="Runners">
          {runners.map((one) => (
            <RunnerRow of={one} mayChange={one.runner_type === `${scope}_type` || me?.is_admin === true} key={one.id} />
          ))}
        </Rows>
      )}
      {pages}
      <details class="card ci-adding">
        <summary>New runner</summary>
        <Form action="addRunner" resets>
          <Field name="description" label="Description" />
          <Field name="tag_list" label="Tags" hint="Comma-separated. The runner picks up jobs with these tags." />
          <Switch name="run_untagged" label="Run untagged jobs" isOn />
          <Button kind="main">Create runner</Button>
        </Form>
      </details>
      {children}
    </section>
  )
}

const NONE = {
  project: 'No runners available. Jobs stay pending until a runner is added.',
  group: 'No group runners. Instance runners also run jobs of this group.',
  instance: 'No runners yet. Create a runner, then start the runner program with the runner token.',
} as const

const KINDS = { instance_type: 'Instance runner', group_type: 'Group runner', project_type: 'Project runner' } as const
const TONES = { online: 'good', offline: 'idle', stale: 'idle', never_contacted: 'idle' } as const

function RunnerRow({ of, mayChange }: { of: Runner; mayChange: boolean }) {
  const name = of.description || `Runner ${of.id}`
  const about = { fields: { runner: of.id }, id: `runner-${of.id}` }
  return (
    <Row
      lead={
        <span class="state" data-tone={of.paused ? 'idle' : TONES[of.status]}>
          <Icon name={of.paused ? 'skipped' : of.status === 'online' ? 'check' : 'clock'} />
        </span>
      }
      title={
        <>
          {name} <span class="badge">{KINDS[of.runner_type]}</span>
        </>
      }
      facts={
        <>
          #{of.id}, {of.paused ? 'paused' : of.status.replaceAll('_', ' ')}
          {of.ip_address && `, ${of.ip_address}`}
        </>
      }
      aside={
        mayChange && (
          <div class="row">
            <ActButton
              action={of.paused ? 'resumeRunner' : 'pauseRunner'}
              label={`${of.paused ? 'Resume' : 'Pause'} ${name}`}
              {...about}
            >
              {of.paused ? 'Resume' : 'Pause'}
            </ActButton>
            <ActButton
              action="removeRunner"
              kind="danger"
              label={`Delete ${name}`}
              confirm={`Delete ${name}?`}
              {...about}
            >
              {' '}
              Delete{' '}
            </ActButton>
          </div>
        )
      }
    />
  )
}

const idOf = async (api: Api, scope: 'project' | 'group', id: string) =>
  (await api.get(`/${scope}s/{id}` as '/projects/{id}', { id })).id

const runnerOf = ({ form }: Act) => text(form, 'runner')

export const runnerActions = (scope: RunnersScope) => ({
  async addRunner({ api, params, form }: Act): Promise<Flash> {
    const made = await api.post('/user/runners', {
      runner_type: `${scope}_type`,
      ...(scope !== 'instance' && { [`${scope}_id`]: await idOf(api, scope, params.id!) }),
      description: optional(form, 'description'),
      tag_list: words(form, 'tag_list'),
      run_untagged: flag(form, 'run_untagged'),
    })
    return { told: { runner_token: made.token } }
  },
  async pauseRunner(act: Act) {
    await act.api.put('/runners/{runner_id}', { runner_id: runnerOf(act), paused: true })
  },
  async resumeRunner(act: Act) {
    await act.api.put('/runners/{runner_id}', { runner_id: runnerOf(act), paused: false })
  },
  async removeRunner(act: Act) {
    await act.api.delete('/runners/{runner_id}', { runner_id: runnerOf(act) })
  },
})
