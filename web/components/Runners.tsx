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
import * as common from '../texts/common.ts'
import * as t from '../texts/ci.ts'

type Runner = Records['Runner']
export type RunnersScope = 'project' | 'group' | 'instance'

interface RunnersProps {
  scope: RunnersScope
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

export function Runners({ scope, runners, server, me, note, pages, children }: RunnersProps) {
  const { flash } = useSurroundings()
  const Heading = scope === 'instance' ? 'h1' : 'h2'
  return (
    <section id="runners">
      <Heading>{common.runners}</Heading>
      {flash.runner_token && (
        <div class="card ci-new-token" role="status">
          <p>{t.runnerCreatedCopyTokenNow}</p>
          <Copyable label={common.token} text={flash.runner_token} />
          <pre tabIndex={0}>{`MORTISE_RUNNER_TOKEN=${flash.runner_token} mortise runner --server ${server}`}</pre>
        </div>
      )}
      {note}
      {runners.length === 0 ? (
        <p class="quiet">{NONE[scope]}</p>
      ) : (
        <Rows label={common.runners}>
          {runners.map((one) => (
            <RunnerRow of={one} mayChange={one.runner_type === `${scope}_type` || me?.is_admin === true} key={one.id} />
          ))}
        </Rows>
      )}
      {pages}
      <details class="card ci-adding">
        <summary>{t.newRunner}</summary>
        <Form action="addRunner" resets>
          <Field name="description" label={common.description} />
          <Field name="tag_list" label={common.tags} hint={t.commaSeparatedRunnerPicksUp} />
          <Switch name="run_untagged" label={t.runUntaggedJobs} isOn />
          <Button kind="main">{t.createRunner}</Button>
        </Form>
      </details>
      {children}
    </section>
  )
}

const NONE = {
  project: t.noRunnersAvailableJobsStay,
  group: t.noGroupRunnersInstanceRunners,
  instance: t.noRunnersYetCreateRunner,
} as const

const KINDS = { instance_type: t.instanceRunner, group_type: t.groupRunner, project_type: t.projectRunner } as const
const TONES = { online: 'good', offline: 'idle', stale: 'idle', never_contacted: 'idle' } as const

function RunnerRow({ of, mayChange }: { of: Runner; mayChange: boolean }) {
  const name = of.description || t.runnerNumber(of.id)
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
          #{of.id}, {of.paused ? t.paused : of.status.replaceAll('_', ' ')}
          {of.ip_address && `, ${of.ip_address}`}
        </>
      }
      aside={
        mayChange && (
          <div class="row">
            <ActButton
              action={of.paused ? 'resumeRunner' : 'pauseRunner'}
              label={`${of.paused ? t.resume : t.pause} ${name}`}
              {...about}
            >
              {of.paused ? t.resume : t.pause}
            </ActButton>
            <ActButton
              action="removeRunner"
              kind="danger"
              label={t.deleteName(name)}
              confirm={t.deleteNameQuestion(name)}
              {...about}
            >
              {' '}
              {common.deleteLabel}{' '}
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
    return { flash: { runner_token: made.token } }
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
