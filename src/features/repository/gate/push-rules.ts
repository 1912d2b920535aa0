/** Checks a push against the push rules of the project. The first violated rule is reported. */
import type { App, User } from '../../../context.ts'
import { sizesOf, type IncomingChange, type IncomingCommit } from '../../../git/push/incoming.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import { PatternTooSlow, finder, patternFault, projectCaller } from '../../../lib/text/patterns.ts'
import type { Row } from '../../../store/database.ts'
import { PATTERNS } from '../../projects/push-rules/validation.ts'
import type { Incoming } from './incoming.ts'

type PushRule = Row<'push_rules'>
type Refuse = string | null

export interface Pushed extends Pick<Incoming, 'dir' | 'environment' | 'tips' | 'branches' | 'commits'> {
  readonly pusher: User | null
  readonly defaultBranch: string
}

const MB = 1024 * 1024

/** Patterns match the end of the path, unless they have their own anchor. Existing files are not checked. */
const SECRETS = [
  'aws\\/credentials$',
  '(ssh|config)\\/(personal|server)_(rsa|dsa|ed\\d+|ecdsa)',
  '_?id_(rsa|dsa|ed25519|ecdsa)(_sk)?$',
  '\\.(pem|key)$',
  '(\\.|_)history$',
]

export async function pushRuleFault(app: App, rule: PushRule, pushed: Pushed): Promise<Refuse> {
  if (pushed.tips.length === 0) return null
  try {
    return (await branchFault(rule, pushed)) ?? (await commitsFault(app, rule, pushed))
  } catch (error) {
    if (error instanceof PatternTooSlow) return 'A regular expression of the push rules takes too long on this push'
    const fault = await badPattern(rule)
    if (fault) return fault
    throw error
  }
}

/** The API accepts no invalid pattern, but rules may be older than that check or come from elsewhere. */
async function badPattern(rule: PushRule): Promise<Refuse> {
  for (const name of PATTERNS) {
    const reason = await patternFault(rule[name], projectCaller(rule.project_id))
    if (reason) return `Regular expression '${rule[name]}' is invalid: ${reason}`
  }
  return null
}

async function commitsFault(app: App, rule: PushRule, pushed: Pushed): Promise<Refuse> {
  if (!looksAtCommits(rule)) return null
  const { dir, environment } = pushed
  const commits = await pushed.commits()
  const ofText = await textChecks(rule, commits)
  const unknown = rule.member_check ? await unknownEmails(app, commits) : new Set<string>()
  const own = rule.commit_committer_check ? await emailsOf(app, pushed.pusher) : null
  const ofPath = await pathCheck(rule, commits)
  const sizes =
    rule.max_file_size > 0 ? await sizesOf(dir, blobsOf(commits), { environment }) : new Map<string, number>()
  for (const commit of commits) {
    const fault =
      ofText(commit) ??
      memberFault(commit, unknown) ??
      committerFault(commit, own) ??
      (rule.reject_unsigned_commits && !commit.signed ? 'Commit must be signed' : null) ??
      firstFault(commit.changes, (change) => ofPath(change) ?? sizeFault(change, sizes, rule.max_file_size))
    if (fault) return fault
  }
  return null
}

function firstFault(changes: readonly IncomingChange[], check: (change: IncomingChange) => Refuse): Refuse {
  for (const change of changes) {
    const fault = check(change)
    if (fault) return fault
  }
  return null
}

async function branchFault({ branch_name_regex: pattern, project_id }: PushRule, pushed: Pushed): Promise<Refuse> {
  if (pattern === '') return null
  const named = pushed.branches.map(({ name }) => name).filter((name) => name !== pushed.defaultBranch)
  const found = await finder(pattern, named, { caller: projectCaller(project_id) })
  return named.every(found) ? null : `Branch name does not follow the pattern '${pattern}'`
}

const looksAtCommits = (rule: PushRule): boolean =>
  rule.commit_message_regex !== '' ||
  rule.commit_message_negative_regex !== '' ||
  rule.author_email_regex !== '' ||
  rule.file_name_regex !== '' ||
  rule.max_file_size > 0 ||
  rule.member_check ||
  rule.commit_committer_check ||
  rule.reject_unsigned_commits ||
  rule.prevent_secrets

async function textChecks(
  rule: PushRule,
  commits: readonly IncomingCommit[],
): Promise<(commit: IncomingCommit) => Refuse> {
  const { commit_message_regex: message, commit_message_negative_regex: forbidden, author_email_regex: email } = rule
  const messages = commits.map((commit) => commit.message)
  const emails = commits.flatMap(({ authorEmail, committerEmail }) => [authorEmail, committerEmail])
  const caller = projectCaller(rule.project_id)
  const isMessage = message === '' ? null : await finder(message, messages, { lines: true, caller })
  const isForbidden = forbidden === '' ? null : await finder(forbidden, messages, { lines: true, caller })
  const isEmail = email === '' ? null : await finder(email, emails, { caller })
  return (commit) => {
    const { authorEmail, committerEmail } = commit
    if ((isMessage ?? isForbidden) && commit.isMessageCut) return 'Commit message is too long to be checked'
    if (isMessage && !isMessage(commit.message)) return `Commit message does not follow the pattern '${message}'`
    if (isForbidden?.(commit.message)) return `Commit message contains the forbidden pattern '${forbidden}'`
    if (isEmail && !isEmail(committerEmail)) {
      return `Committer's email '${committerEmail}' does not follow the pattern '${email}'`
    }
    if (isEmail && !isEmail(authorEmail))
      return `Author's email '${authorEmail}' does not follow the pattern '${email}'`
    return null
  }
}

/** Email addresses in lower case that no account has as its primary or secondary address. */
async function unknownEmails(app: App, commits: readonly IncomingCommit[]): Promise<Set<string>> {
  const emails = new Set(
    commits.flatMap(({ authorEmail, committerEmail }) => [authorEmail.toLowerCase(), committerEmail.toLowerCase()]),
  )
  const unknown = new Set(emails)
  for (const some of batchesOf([...emails], EMAILS_A_QUERY)) {
    const known = await app.db
      .selectFrom('users')
      .select('email')
      .where('email', 'in', some)
      .union((eb) =>
        eb.selectFrom('emails').select('email').where('email', 'in', some).where('confirmed_at', 'is not', null),
      )
      .execute()
    for (const { email } of known) unknown.delete(email)
  }
  return unknown
}

const EMAILS_A_QUERY = 500

function memberFault({ authorEmail, committerEmail }: IncomingCommit, unknown: Set<string>): Refuse {
  if (unknown.has(authorEmail.toLowerCase())) return `Author '${authorEmail}' is not a member of team`
  if (unknown.has(committerEmail.toLowerCase())) return `Committer '${committerEmail}' is not a member of team`
  return null
}

async function emailsOf(app: App, user: User | null): Promise<Set<string>> {
  if (!user) return new Set()
  const own = app.db.selectFrom('emails').select('email').where('user_id', '=', user.id)
  const more = await own.where('confirmed_at', 'is not', null).execute()
  return new Set([user.email, ...more.map(({ email }) => email)])
}

function committerFault({ committerEmail: email }: IncomingCommit, own: Set<string> | null): Refuse {
  if (!own || own.has(email.toLowerCase())) return null
  return `You cannot push commits for '${email}'. You can only push commits if the committer email is one of your own.`
}

/** Checks the paths of added and renamed files. */
async function pathCheck(
  rule: PushRule,
  commits: readonly IncomingCommit[],
): Promise<(change: IncomingChange) => Refuse> {
  const patterns = [...(rule.file_name_regex ? [rule.file_name_regex] : []), ...(rule.prevent_secrets ? SECRETS : [])]
  const isNew = ({ status }: IncomingChange) => status === 'A' || status === 'R' || status === 'C'
  const paths = new Set(commits.flatMap(({ changes }) => changes.filter(isNew).map(({ path }) => path)))
  const finders = await Promise.all(
    patterns.map(async (pattern) => ({
      pattern,
      found: await finder(pattern, paths, { lines: true, caller: projectCaller(rule.project_id) }),
    })),
  )
  return (change) => {
    if (!isNew(change)) return null
    const { path } = change
    const hit = finders.find(({ found }) => found(path))
    return hit ? `File name ${path} was blacklisted by the pattern ${hit.pattern}.` : null
  }
}

const blobsOf = (commits: readonly IncomingCommit[]) =>
  commits.flatMap(({ changes }) => changes.map(({ blob }) => blob).filter((blob) => blob !== null))

function sizeFault({ path, blob }: IncomingChange, sizes: Map<string, number>, most: number): Refuse {
  const isLarge = blob !== null && (sizes.get(blob) ?? 0) > most * MB
  return isLarge ? `File "${path}" is larger than the allowed size of ${most} MB` : null
}
