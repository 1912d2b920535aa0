/** Test deliveries of a webhook: the newest matching record in the scope of the hook. */
import type { App, User } from '../../../context.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { listTags, resolveRef } from '../../../git/refs/refs.ts'
import { Refusal } from '../../../errors.ts'
import type { Events } from '../../../store/database.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { kindOf, type AnySwitch, type Hook } from '../hooks/model.ts'
import { eventsAt, projectsAt } from '../hooks/listening.ts'
import { messagesOf } from '../messages/describe.ts'
import { completions, sources } from '../messages/sources.ts'

/** Nouns for the message `Ensure the project has …`. */
const THINGS: Readonly<Record<string, string>> = {
  push_events: 'commits',
  tag_push_events: 'tags',
  issues_events: 'issues',
  confidential_issues_events: 'confidential issues',
  merge_requests_events: 'merge requests',
  note_events: 'notes',
  confidential_note_events: 'confidential notes',
  job_events: 'CI jobs',
  pipeline_events: 'CI pipelines',
  wiki_page_events: 'wiki pages',
  deployment_events: 'deployments',
  releases_events: 'releases',
  feature_flag_events: 'feature flags',
  emoji_events: 'emoji reactions',
  resource_access_token_events: 'access tokens that expire soon',
  vulnerability_events: 'vulnerabilities',
  subgroup_events: 'new subgroups',
  member_events: 'new members',
  project_events: 'new projects',
}

interface Sample {
  readonly name: string
  readonly payload: object
}

type Find = (app: App, hook: Hook, viewer: User) => Promise<readonly Sample[]>

/** The newest records may not be of the wanted kind, so several are tried. */
const MOST_TRIED = 20

const rows =
  <T extends 'merge_requests' | 'notes' | 'releases'>(table: T, name: keyof Events): Find =>
  async ({ db }, hook, { id: by }) => {
    const found = await db
      .selectFrom(table as 'notes')
      .select(['id', 'project_id'])
      .where('project_id', 'in', projectsAt(db, hook))
      .$if(table === 'notes', (q) => q.where('system', '=', false))
      .orderBy('id', 'desc')
      .limit(MOST_TRIED)
      .execute()
    return found.map((row) => ({ name, payload: { ...row, by } }))
  }

const issues =
  (confidential: boolean): Find =>
  async ({ db }, hook, { id: by }) => {
    const found = await db
      .selectFrom('issues')
      .select(['id', 'project_id'])
      .where('project_id', 'in', projectsAt(db, hook))
      .where('confidential', '=', confidential)
      .orderBy('id', 'desc')
      .limit(1)
      .execute()
    return found.map((row) => ({ name: 'issue.created', payload: { ...row, by } }))
  }

const jobs: Find = async ({ db }, hook) => {
  const found = await db
    .selectFrom('ci_jobs')
    .select(['id', 'kind', 'project_id', 'pipeline_id', 'status'])
    .where('project_id', 'in', projectsAt(db, hook))
    .orderBy('id', 'desc')
    .limit(1)
    .execute()
  return found.map((payload) => ({ name: 'job.changed', payload }))
}

const pipelines: Find = async ({ db }, hook) => {
  const found = await db
    .selectFrom('pipelines')
    .select(['id', 'project_id', 'sha', 'status'])
    .where('project_id', 'in', projectsAt(db, hook))
    .orderBy('id', 'desc')
    .limit(1)
    .execute()
  return found.map((payload) => ({ name: 'pipeline.changed', payload }))
}

const deployments: Find = async ({ db }, hook) => {
  const found = await db
    .selectFrom('deployments')
    .select(['id', 'project_id', 'status'])
    .where('project_id', 'in', projectsAt(db, hook))
    .orderBy('id', 'desc')
    .limit(MOST_TRIED)
    .execute()
  return found.map((payload) => ({ name: 'deployment.changed', payload }))
}

const SHOWN_COMMITS = 3

const pushes =
  (updateOf: (dir: string, branch: string) => Promise<Events['repository.changed']['updates'][number] | null>): Find =>
  async (app, hook, { id: by }) => {
    const projects = await app.db
      .selectFrom('projects')
      .selectAll()
      .where('id', 'in', projectsAt(app.db, hook))
      .where('empty_repo', '=', false)
      .orderBy('id', 'desc')
      .limit(MOST_TRIED)
      .execute()
    for (const project of projects) {
      const update = await updateOf(repositoryDir(app, project), project.default_branch ?? 'master')
      const payload = { project_id: project.id, wiki: false, by, updates: [update], options: [] }
      if (update) return [{ name: 'repository.changed', payload }]
    }
    return []
  }

const lastCommits = pushes(async (dir, branch) => {
  const ref = `refs/heads/${branch}`
  const tip = await resolveRef(dir, ref)
  const ids = tip === null ? [] : await listCommitIds(dir, { from: tip, firstParent: true, limit: SHOWN_COMMITS + 1 })
  return tip === null ? null : { ref, before: ids[SHOWN_COMMITS] ?? null, after: tip }
})

const lastTag = pushes(async (dir) => {
  const { items } = await listTags(dir, { order: 'updated_desc', limit: 1 })
  const [tag] = items
  return tag ? { ref: `refs/tags/${tag.name}`, before: null, after: tag.target } : null
})

const FINDERS: Partial<Record<AnySwitch, Find>> = {
  push_events: lastCommits,
  tag_push_events: lastTag,
  issues_events: issues(false),
  confidential_issues_events: issues(true),
  merge_requests_events: rows('merge_requests', 'merge_request.created'),
  note_events: rows('notes', 'note.created'),
  confidential_note_events: rows('notes', 'note.created'),
  job_events: jobs,
  pipeline_events: pipelines,
  deployment_events: deployments,
  releases_events: rows('releases', 'release.created'),
}

/** Kinds without rows of their own are found in the event log. */
async function loggedEvents({ db }: App, hook: Hook, trigger: AnySwitch): Promise<Sample[]> {
  const names = sources.filter(({ switches }) => switches.includes(trigger)).map(({ event }) => event as string)
  if (names.length === 0) return []
  const found = await eventsAt(db, hook)
    .select(['name', 'payload'])
    .where('name', 'in', names)
    .orderBy('id', 'desc')
    .limit(MOST_TRIED)
    .execute()
  return found.map(({ name, payload }) => ({ name, payload: JSON.parse(payload) as object }))
}

/** Refuses the request where no sample exists. */
export async function sampleFor(app: App, viewer: User, hook: Hook, trigger: AnySwitch): Promise<EventMessage> {
  const found = (await FINDERS[trigger]?.(app, hook, viewer)) ?? (await loggedEvents(app, hook, trigger))
  for (const { name, payload } of found) {
    const [message] = await messagesOf(app, name as keyof Events, payload, new Set([trigger]))
    if (message) return { ...message, body: await wholeBody(app, message) }
  }
  throw new Refusal('unprocessable', `Ensure the ${kindOf(hook)} has ${THINGS[trigger]}.`)
}

async function wholeBody(app: App, { kind, project_id = null, body, complete }: EventMessage): Promise<object> {
  const fill = completions[kind]
  return complete || !fill ? body : fill(app, { project_id, body })
}
