/** Tests a service at once, with the message it would receive, whatever its switches. */
import { pageBelow } from '../../../lib/net/page-below.ts'
import { MINUTE } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { listCommits } from '../../../git/history/history.ts'
import { OutgoingFailure } from '../../../outbound/client.ts'
import { countWithin } from '../../identity/throttling/throttle.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { ServiceFailure, ask } from './asking.ts'
import type { Service } from './declare.ts'
import type { ServiceEvent, ServiceRow } from './model.ts'
import { sendPayload, servicePayload, payloadProject } from './send.ts'
import type { Payload, PayloadCommit, PayloadProject } from './payload.ts'

const MOST_TESTS = 5
const COMMITS = 3
const NOBODY = '0'.repeat(40)

export async function testService(
  app: App,
  actor: User,
  service: Service,
  row: ServiceRow,
  project_id: number,
): Promise<void> {
  if ((await countWithin(app, `test of service ${row.id} in ${project_id}`, MINUTE)) > MOST_TESTS)
    throw new Refusal('throttled', undefined, { headers: { 'Retry-After': String(MINUTE / 1000) } })
  if (service.gone !== undefined) throw failed(service.gone)
  const [event] = service.events
  const project = await payloadProject(app, project_id)
  if (!event || !project || !(service.requests ?? service.deliver)) throw failed('This service is sent nothing.')
  const body = await sampleOf(app, actor, event, project)
  const payload = servicePayload(app, service, row, { event, body, project })
  try {
    const answer = service.probe ? await ask(app, service.probe(payload)) : await sendPayload(app, service, payload)
    if (answer ? answer.status < 300 : service.deliver) return
    throw failed(answer ? `The receiver answered ${answer.status}` : 'There is nothing to send.')
  } catch (error) {
    if (error instanceof Refusal) throw error
    const isKnown = error instanceof ServiceFailure || error instanceof OutgoingFailure
    if (!isKnown) app.log.warn({ part: 'services', slug: service.slug, err: error }, 'test failed')
    throw failed(isKnown ? error.message : 'It could not be sent.')
  }
}

const failed = (reason: string) => new Refusal('unprocessable', reason)

async function lastCommits(app: App, id: number, web_url: string): Promise<PayloadCommit[]> {
  const project = await findProjectById(app.db, id)
  if (!project?.default_branch) return []
  const dir = repositoryDir(app, project)
  const commits = await listCommits(dir, { from: `refs/heads/${project.default_branch}`, limit: COMMITS }).catch(
    () => [],
  )
  return commits.toReversed().map((commit) => ({
    id: commit.id,
    message: commit.message,
    title: commit.title,
    timestamp: commit.committer.date.toISOString(),
    url: pageBelow(web_url, `commit/${commit.id}`),
    author: { name: commit.author.name, email: commit.author.email },
  }))
}

/** The webhook message about the newest record of the project. */
async function sampleOf(app: App, actor: User, event: ServiceEvent, project: PayloadProject): Promise<Payload> {
  const { id, web_url, default_branch } = project
  const commits = await lastCommits(app, id, web_url)
  const last = commits.at(-1)
  const branch = default_branch ?? 'master'
  const user = { name: actor.name, username: actor.username, avatar_url: null }
  if (event === 'pipeline' || event === 'job') {
    const attributes = { id: 0, ref: branch, tag: false, sha: last?.id ?? NOBODY, status: 'success', duration: 1 }
    return { object_kind: 'pipeline', user, object_attributes: attributes, commit: last ?? null, builds: [] }
  }
  if (event === 'issue') {
    const attributes = { iid: 0, title: 'A test', description: '', url: web_url, state: 'opened', action: 'open' }
    return { object_kind: 'issue', event_type: 'issue', user, object_attributes: attributes }
  }
  return {
    object_kind: 'push',
    ref: `refs/heads/${branch}`,
    before: commits[0]?.id ?? NOBODY,
    after: last?.id ?? NOBODY,
    checkout_sha: last?.id ?? null,
    user_id: actor.id,
    user_name: actor.name,
    user_username: actor.username,
    user_avatar: null,
    commits,
    total_commits_count: commits.length,
  }
}
