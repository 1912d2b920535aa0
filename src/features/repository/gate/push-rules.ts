/** A project's push rules, asked of what a push brings; the first that fails is told. */
import type { App, User } from '../../../context.ts'
import { incomingCommits, sizesOf, type IncomingCommit } from '../../../git/incoming.ts'
import { finder } from '../../../lib/patterns.ts'
import type { Row } from '../../../store/database.ts'

type PushRule = Row<'push_rules'>
type Refuse = string | null

export interface Incoming {
  /** Null: a deploy key without a creator. */
  readonly pusher: User | null
  readonly dir: string
  readonly defaultBranch: string
  /** Branches that come or move: their names and new tips. */
  readonly branches: readonly { name: string; tip: string }[]
  readonly environment?: Readonly<Record<string, string>> | undefined
}

const MB = 1024 * 1024

/** By the end of the path, unless it begins with an anchor of its own. Files already there are not looked at. */
const SECRETS = [
  'aws\\/credentials$',
  '(ssh|config)\\/(personal|server)_(rsa|dsa|ed\\d+|ecdsa)',
  '_?id_(rsa|dsa|ed25519|ecdsa)(_sk)?$',
  '\\.(pem|key)$',
  '(\\.|_)history$',
]

export async function pushRuleFault(app: App, rule: PushRule, incoming: Incoming): Promise<Refuse> {
  const named = await branchFault(rule, incoming)
  if (named) return named
  if (!looksAtCommits(rule)) return null
  const { dir, environment } = incoming
  const where = environment ? { environment } : {}
  const commits = await incomingCommits(
    dir,
    incoming.branches.map(({ tip }) => tip),
    where,
  )
  const ofText = await textChecks(rule)
  const unknown = rule.member_check ? await unknownEmails(app, commits) : new Set<string>()
  const own = rule.commit_committer_check ? await emailsOf(app, incoming.pusher) : null
  const ofPaths = await pathChecks(rule)
  const sizes = rule.max_file_size > 0 ? await sizesOf(dir, blobsOf(commits), where) : new Map<string, number>()
  for (const commit of commits) {
    const fault =
      ofText(commit) ??
      memberFault(commit, unknown) ??
      committerFault(commit, own) ??
      (rule.reject_unsigned_commits && !commit.signed ? 'Commit must be signed' : null) ??
      ofPaths(commit) ??
      sizeFault(commit, sizes, rule.max_file_size)
    if (fault) return fault
  }
  return null
}

async function branchFault({ branch_name_regex: pattern }: PushRule, incoming: Incoming): Promise<Refuse> {
  if (pattern === '') return null
  const found = await finder(pattern)
  const named = incoming.branches.filter(({ name }) => name !== incoming.defaultBranch)
  return named.every(({ name }) => found(name)) ? null : `Branch name does not follow the pattern '${pattern}'`
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

async function textChecks(rule: PushRule): Promise<(commit: IncomingCommit) => Refuse> {
  const { commit_message_regex: message, commit_message_negative_regex: forbidden, author_email_regex: email } = rule
  const isMessage = message === '' ? null : await finder(message, { lines: true })
  const isForbidden = forbidden === '' ? null : await finder(forbidden, { lines: true })
  const isEmail = email === '' ? null : await finder(email)
  return (commit) => {
    const { authorEmail, committerEmail } = commit
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

/** In lower case: those that no account has, as its primary or another address. */
async function unknownEmails(app: App, commits: readonly IncomingCommit[]): Promise<Set<string>> {
  const asked = new Set(
    commits.flatMap(({ authorEmail, committerEmail }) => [authorEmail.toLowerCase(), committerEmail.toLowerCase()]),
  )
  const unknown = new Set(asked)
  const all = [...asked]
  for (let at = 0; at < all.length; at += EMAILS_A_QUERY) {
    const some = all.slice(at, at + EMAILS_A_QUERY)
    const known = await app.db
      .selectFrom('users')
      .select('email')
      .where('email', 'in', some)
      .union((eb) => eb.selectFrom('emails').select('email').where('email', 'in', some))
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
  const more = await app.db.selectFrom('emails').select('email').where('user_id', '=', user.id).execute()
  return new Set([user.email, ...more.map(({ email }) => email)])
}

function committerFault({ committerEmail: email }: IncomingCommit, own: Set<string> | null): Refuse {
  if (!own || own.has(email.toLowerCase())) return null
  return `You cannot push commits for '${email}'. You can only push commits if the committer email is one of your own.`
}

/** Of files that are added or renamed. */
async function pathChecks(rule: PushRule): Promise<(commit: IncomingCommit) => Refuse> {
  const patterns = [...(rule.file_name_regex ? [rule.file_name_regex] : []), ...(rule.prevent_secrets ? SECRETS : [])]
  const finders = await Promise.all(patterns.map(async (pattern) => ({ pattern, found: await finder(pattern) })))
  return ({ changes }) => {
    for (const { status, path } of changes) {
      if (status !== 'A' && status !== 'R' && status !== 'C') continue
      const hit = finders.find(({ found }) => found(path))
      if (hit) return `File name ${path} was blacklisted by the pattern ${hit.pattern}.`
    }
    return null
  }
}

const blobsOf = (commits: readonly IncomingCommit[]) =>
  commits.flatMap(({ changes }) => changes.map(({ blob }) => blob).filter((blob) => blob !== null))

function sizeFault({ changes }: IncomingCommit, sizes: Map<string, number>, most: number): Refuse {
  const large = changes.find(({ blob }) => blob !== null && (sizes.get(blob) ?? 0) > most * MB)
  return large ? `File "${large.path}" is larger than the allowed size of ${most} MB` : null
}
