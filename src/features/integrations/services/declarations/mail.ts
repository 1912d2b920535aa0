import { pageBelow } from '../../../../lib/net/page-below.ts'
import { z } from 'zod'
import { diffBetween } from '../../../../git/history/diffs.ts'
import type { App } from '../../../../context.ts'
import type { Mail } from '../../../../mail/mailer.ts'
import { mayMail } from '../../../identity/mailing.ts'
import { findUser } from '../../../identity/users/queries.ts'
import { isEmail } from '../../../identity/users/validation.ts'
import { findRepositorySubject } from '../../../repository/repositories/queries.ts'
import { field, flag, required, service } from '../declare.ts'
import {
  actorOf,
  cut,
  isCreation,
  isDeletion,
  nameOfRef,
  shortSha,
  textOf,
  titleOfCommit,
  type PayloadCommit,
  type ServicePayload,
} from '../payload.ts'
import { filters } from './chat.ts'

const MOST_RECIPIENTS = 750
const LONGEST_LIST = 100_000

/** Unique addresses, separated by blanks or commas. */
const recipientsIn = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter(Boolean))]

const areRecipients = (text: string): boolean => {
  const found = recipientsIn(text)
  return found.length > 0 && found.length <= MOST_RECIPIENTS && found.every(isEmail)
}

const recipients = required(field(z.string().max(LONGEST_LIST, { abort: true }).refine(areRecipients)))

type Letter = Omit<Mail, 'to'>

/** One mail per recipient. A failure does not stop the others. */
async function sendTo(app: App, recipients: readonly string[], letter: Letter): Promise<void> {
  const failures: unknown[] = []
  for (const to of recipients) {
    if (!(await mayMail(app, { kind: 'service', to }))) continue
    try {
      await app.mail.send({ to, ...letter })
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0 && failures.length === recipients.length) throw failures[0]
}

const oneLine = (text: string) => cut(text.replace(/\s+/g, ' ').trim(), 250)

function pushSubject({ event, body, project }: ServicePayload): string {
  const kind = event === 'tag_push' ? 'tag' : 'branch'
  const name = nameOfRef(body.ref)
  const start = `[Git][${project.path_with_namespace}]`
  if (isDeletion(body)) return oneLine(`${start} Deleted ${kind} ${name}`)
  if (isCreation(body)) return oneLine(`${start} Pushed new ${kind} ${name}`)
  const commits = body.commits ?? []
  const total = body.total_commits_count ?? commits.length
  const title = commits.length > 0 ? titleOfCommit(commits.at(-1)!) : ''
  return oneLine(`${start}[${name}] ${total > 1 ? `${total} commits: ${title}` : title}`)
}

const textOfCommit = ({ id, author, timestamp, message, url }: PayloadCommit) =>
  `${shortSha(id)} by ${author?.name ?? ''} at ${timestamp ?? ''}\n${cut((message ?? '').trim(), 5000)}\n${url ?? ''}\n`

/** The limit of a diff in a mail. */
const LIMITS = { files: 30, lines: 5000, bytes: 500 * 1024, fileBytes: 100 * 1024 }

async function changesOf(app: App, { body, project }: ServicePayload): Promise<string> {
  const subject = await findRepositorySubject(app, String(project.id), null)
  if (!subject || !body.before || !body.after) return ''
  const diff = await diffBetween(subject.dir, body.before, body.after, { limits: LIMITS })
  if (!diff) return ''
  const files = diff.files.map(({ oldPath, newPath, patch }) => `--- a/${oldPath}\n+++ b/${newPath}\n${patch}`)
  return [...files, ...(diff.overflow ? ['The diff was not included because it is too large.'] : [])].join('\n')
}

async function pushLetter(app: App, payload: ServicePayload): Promise<Letter> {
  const { event, body, project, settings } = payload
  const kind = event === 'tag_push' ? 'tag' : 'branch'
  const name = nameOfRef(body.ref)
  const verb = isDeletion(body) ? 'deleted' : isCreation(body) ? 'pushed new' : 'pushed to'
  const head = `${actorOf(body)} ${verb} ${kind} ${name} at ${project.name_with_namespace}`
  const isUpdate = !isCreation(body) && !isDeletion(body)
  const compare = isUpdate ? pageBelow(project.web_url, `compare/${body.before}...${body.after}`) : project.web_url
  const commits = isUpdate || (event === 'push' && isCreation(body)) ? (body.commits ?? []) : []
  const changes = isUpdate && event === 'push' && settings.disable_diffs !== true ? await changesOf(app, payload) : ''
  const parts = [
    head,
    ...(commits.length > 0 ? [`Commits:\n\n${commits.map(textOfCommit).join('\n')}`] : []),
    ...(changes ? [`Changes:\n\n${changes}`] : []),
    `View it on ${compare}`,
  ]
  return { subject: pushSubject(payload), text: parts.join('\n\n'), ...(await senderOf(app, payload)) }
}

/** The sender has the pusher's name, and the pusher's address where this server may send for its domain. */
async function senderOf(
  app: App,
  { body, settings }: ServicePayload,
): Promise<Pick<Mail, 'from' | 'fromName' | 'headers'>> {
  const named = { fromName: body.user_name ?? '', headers: { 'X-GitLab-Author': body.user_username ?? '' } }
  const pusher =
    settings.send_from_committer_email === true && body.user_id ? await findUser(app.db, body.user_id) : null
  const isOurs = pusher?.email.split('@')[1]?.toLowerCase() === new URL(app.url).hostname
  return pusher && isOurs && pusher.confirmed_at !== null ? { ...named, from: pusher.email } : named
}

export const emailsOnPush = service({
  slug: 'emails-on-push',
  title: 'Emails on push',
  fields: {
    recipients,
    disable_diffs: flag(),
    send_from_committer_email: flag(),
    branches_to_be_notified: { ...filters.branches_to_be_notified, preset: 'all' },
  },
  events: ['push', 'tag_push'],
  async deliver(app, payload) {
    await sendTo(app, recipientsIn(textOf(payload, 'recipients')), await pushLetter(app, payload))
  },
})

function pipelineLetter({ body, project }: ServicePayload): Letter | null {
  const { id, status, ref, sha, duration } = body.object_attributes ?? {}
  if (status !== 'success' && status !== 'failed') return null
  const name = nameOfRef(ref)
  const word = status === 'success' ? 'Successful' : 'Failed'
  const failed = (body.builds ?? []).filter((job) => job.status === 'failed')
  const parts = [
    `Pipeline #${id} of ${project.name_with_namespace} ${status === 'success' ? 'has passed' : 'has failed'}.`,
    `Project: ${project.name_with_namespace} (${project.web_url})\nBranch: ${name}\nCommit: ${shortSha(sha)} ${body.commit ? titleOfCommit(body.commit) : ''}\nStarted by: ${body.user ? actorOf(body) : 'API'}\nDuration: ${duration ?? 0} seconds`,
    ...(failed.length > 0
      ? [
          `Failed jobs:\n${failed
            .slice(0, 50)
            .map((job) => `- ${job.stage}: ${job.name}`)
            .join('\n')}`,
        ]
      : []),
    pageBelow(project.web_url, `pipelines/${id}`),
  ]
  return {
    subject: oneLine(`${project.name} | ${word} pipeline for ${name} | ${shortSha(sha)}`),
    text: parts.join('\n\n'),
  }
}

export const pipelinesEmail = service({
  slug: 'pipelines-email',
  title: 'Pipeline status emails',
  fields: {
    recipients,
    notify_only_broken_pipelines: filters.notify_only_broken_pipelines,
    notify_only_default_branch: flag(),
    branches_to_be_notified: { ...filters.branches_to_be_notified, preset: 'all' },
  },
  events: ['pipeline'],
  async deliver(app, payload) {
    const letter = pipelineLetter(payload)
    if (letter) await sendTo(app, recipientsIn(textOf(payload, 'recipients')), letter)
  },
})
