/** Runs the command of a chat user with the rights of the linked account, and no others. */
import type { RateLimiter } from '../../../api/limits.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { isEnded } from '../../ci/pipelines/status.ts'
import { createPipeline } from '../../ci/pipelines/create.ts'
import { ciPolicy } from '../../ci/pipelines/policy.ts'
import { environmentPolicy } from '../../ci/environments/policy.ts'
import { findEnvironmentByName, lastDeploymentOf } from '../../ci/environments/queries.ts'
import type { Job } from '../../ci/jobs/model.ts'
import { playJob } from '../../ci/jobs/service.ts'
import { filterFrom } from '../../planning/issues/filter.ts'
import { issueLists } from '../../planning/issues/lists.ts'
import type { Issue } from '../../planning/issues/model.ts'
import { issuePolicy, issuesPolicy, type IssueSubject } from '../../planning/issues/policy.ts'
import { findIssue, findIssues } from '../../planning/issues/queries.ts'
import { updateIssue } from '../../planning/issues/service.ts'
import { issueNoteable } from '../../planning/issues/noteable.ts'
import { createNote } from '../../planning/notes/service.ts'
import { noteablePolicy } from '../../planning/notes/noteable.ts'
import { createIssueWithCommands } from '../../planning/quick-actions/service.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import type { Link, Piece } from '../services/chat/sentences.ts'
import { HELP, type Command } from './parsing.ts'
import type { Reply } from './replies.ts'

export interface CommandContext {
  readonly app: App
  readonly actor: User
  readonly subject: RepositorySubject
  /** The slash command as the chat names it, e.g. `/forge`. */
  readonly command: string
  readonly channel: string
  readonly sender: { readonly userAgent: string; readonly address: string }
  readonly limiter: RateLimiter
}

const MISSING: Reply = { pieces: ["Not found, or you don't have access."] }
const DENIED: Reply = { pieces: ["You don't have permission to do this."] }
const THROTTLED: Reply = { pieces: ['Rate limit reached. Try again later.'] }

const linkToIssue = ({ app, subject }: CommandContext, { iid, title }: Issue): Link => ({
  text: `#${iid} ${title}`,
  url: pageBelow(webUrlOf(app, subject), `issues/${iid}`),
})
const linkToProject = ({ app, subject }: CommandContext): Link => ({
  text: `${subject.namespace.full_name} / ${subject.project.name}`,
  url: webUrlOf(app, subject),
})

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>
type Runner<K extends Command['kind']> = (context: CommandContext, command: Of<K>) => Promise<Reply>

/** Answers a refusal as text. Any other error is a fault of the server and is thrown. */
export async function runCommand(context: CommandContext, command: Command): Promise<Reply> {
  try {
    return await (RUNNERS[command.kind] as (context: CommandContext, command: never) => Promise<Reply>)(
      context,
      command as never,
    )
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.kind === 'forbidden') return DENIED
    if (error.kind === 'not_found') return MISSING
    if (error.kind === 'throttled') return THROTTLED
    return {
      pieces: [`Request rejected: ${typeof error.reason === 'string' ? error.reason : JSON.stringify(error.reason)}`],
    }
  }
}

const helpOf = (command: string, unknown?: string): Reply => ({
  pieces: [
    ...(unknown === undefined ? [] : [`Unknown command: ${unknown.slice(0, 200)}\n`]),
    'Available commands:\n',
    HELP.map((line) => `• ${command} ${line}`).join('\n'),
  ],
})

const help: Runner<'help'> = async ({ command }, { unknown }) => helpOf(command, unknown)

const newIssue: Runner<'issue new'> = async (context, { title, description }) => {
  const { app, actor, subject, sender, limiter } = context
  if (!issuesPolicy.createIssue(subject)) return DENIED
  await limiter.admitTo('issues_create_limit', actor, sender.address)
  const issue = await createIssueWithCommands(app, actor, subject, { title, description: description || null }, sender)
  return {
    isForAll: true,
    pieces: [
      `I created an issue on ${actor.username}'s behalf: `,
      linkToIssue(context, issue),
      ' in ',
      linkToProject(context),
    ],
    details: { title: linkToIssue(context, issue), text: issue.description ?? '' },
  }
}

/** Null if the issue does not exist or the caller may not see it. */
async function findIssueSubject({ app, actor, subject }: CommandContext, iid: number): Promise<IssueSubject | null> {
  const issue = await findIssue(app, subject.project.id, iid, actor.id)
  const found = issue && { ...subject, issue }
  return found && issuePolicy.read(found) ? found : null
}

const showIssue: Runner<'issue show'> = async (context, { iid }) => {
  const found = await findIssueSubject(context, iid)
  if (!found) return MISSING
  const { issue } = found
  const pieces: Piece[] = [
    `${issue.state === 'closed' ? 'Closed' : 'Open'} issue `,
    linkToIssue(context, issue),
    ' in ',
    linkToProject(context),
  ]
  // A confidential issue is not for the whole channel: its members may not all see it.
  return {
    isForAll: !issue.confidential,
    pieces,
    details: { title: linkToIssue(context, issue), text: issue.description ?? '' },
  }
}

const closeIssue: Runner<'issue close'> = async (context, { iid }) => {
  const found = await findIssueSubject(context, iid)
  if (!found) return MISSING
  if (!issuePolicy.update(found)) return DENIED
  const { app, actor } = context
  if (found.issue.state === 'closed')
    return { pieces: ['Issue ', linkToIssue(context, found.issue), ' is already closed.'] }
  const closed = await updateIssue(app, actor, found, found.issue.id, { state_event: 'close' })
  return {
    isForAll: !closed.confidential,
    pieces: [`I closed an issue on ${actor.username}'s behalf: `, linkToIssue(context, closed)],
  }
}

const FOUND = 5

const searchIssues: Runner<'issue search'> = async (context, { query }) => {
  const { app, actor, subject } = context
  if (!issuesPolicy.readIssues(subject)) return MISSING
  const { items } = await issueLists.listOfProject(app, subject, await filterFrom(app, actor, { search: query }), {
    limit: FOUND,
    offset: 0,
  })
  const found = await findIssues(
    app.db,
    items.map(({ id }) => id),
  )
  if (found.length === 0) return MISSING
  const lines = found.flatMap((issue): Piece[] => [
    '\n• ',
    linkToIssue(context, issue),
    issue.state === 'closed' ? ' (closed)' : '',
  ])
  return { pieces: ['Here are the issues I found:', ...lines] }
}

const commentIssue: Runner<'issue comment'> = async (context, { iid, note }) => {
  const { app, actor, subject, sender, limiter } = context
  const found = await findIssueSubject(context, iid)
  const noteable =
    found &&
    (await issueNoteable
      .named()
      .find(app, { id: String(subject.project.id), issue_iid: iid } as never, actor, found as never))
  if (!noteable) return MISSING
  if (!noteablePolicy.talk(noteable)) return DENIED
  await limiter.admitTo('notes_create_limit', actor, sender.address)
  await createNote(app, actor, noteable, { body: note })
  return {
    isForAll: !found.issue.confidential,
    pieces: [`I commented on an issue on ${actor.username}'s behalf: `, linkToIssue(context, found.issue)],
  }
}

/** The manual jobs that deploy to environment `to`, of the pipeline that last deployed to `from`. */
async function deployJobs({ app, subject }: CommandContext, from: string, to: string): Promise<Job[]> {
  const environment = await findEnvironmentByName(app.db, subject.project.id, from)
  const last = environment && (await lastDeploymentOf(app.db, environment.id))
  if (!last?.job_id) return []
  const target = await findEnvironmentByName(app.db, subject.project.id, to)
  const jobs = await app.db
    .selectFrom('ci_jobs')
    .selectAll()
    .where('pipeline_id', 'in', (eb) => eb.selectFrom('ci_jobs').select('pipeline_id').where('id', '=', last.job_id))
    .where('kind', '=', 'job')
    .where('when', '=', 'manual')
    .where('retried', '=', false)
    .execute()
  const isFor = (job: Job) => (target ? job.environment_id === target.id : job.name === to)
  return jobs.filter((job) => isFor(job) && (job.status === 'manual' || isEnded(job.status)))
}

const deploy: Runner<'deploy'> = async (context, { from, to }) => {
  const { app, subject } = context
  if (!environmentPolicy.run(subject) || !environmentPolicy.readEnvironments(subject)) return DENIED
  const [job, ...others] = await deployJobs(context, from, to)
  if (!job) return { pieces: ['No action found to be executed.'] }
  if (others.length > 0) return { pieces: ['Too many actions defined.'] }
  const played = await playJob(app, subject, job, {})
  const link: Link = { text: 'View job', url: pageBelow(webUrlOf(app, subject), `jobs/${played.id}`) }
  return { isForAll: true, pieces: [`Deployment started from ${from} to ${to}. `, link, '.'] }
}

const run: Runner<'run'> = async (context, { job, rest }) => {
  const { app, actor, subject, channel } = context
  const { project } = subject
  if (!ciPolicy.run(subject)) return DENIED
  if (!project.default_branch) return MISSING
  const variables = [
    { key: 'CHAT_INPUT', value: rest },
    { key: 'CHAT_CHANNEL', value: channel },
    { key: 'CHAT_USER_ID', value: String(actor.id) },
  ]
  const input = { project, actor, source: 'chat', ref: project.default_branch, job, variables } as const
  const { pipeline, errors } = await createPipeline(app, input)
  if (!pipeline) return { pieces: [`Pipeline could not be created: ${errors.join(', ')}`] }
  const link: Link = { text: `#${pipeline.id}`, url: pageBelow(webUrlOf(app, subject), `pipelines/${pipeline.id}`) }
  return { isForAll: true, pieces: [`Your job ${job} runs in pipeline `, link, '.'] }
}

const RUNNERS: { [K in Command['kind']]: Runner<K> } = {
  help,
  'issue new': newIssue,
  'issue show': showIssue,
  'issue close': closeIssue,
  'issue search': searchIssues,
  'issue comment': commentIssue,
  deploy,
  run,
}
