/**
 * Checks access to a repository before the body of a request is read. The facts are loaded once, and a table checks
 * them in the order of the API contract. Git over HTTP, git over SSH and LFS all use this file.
 */
import type { App } from '../context.ts'
import { Refusal } from '../errors.ts'
import { isLetIn } from '../features/ci/job-tokens/queries.ts'
import { findUser } from '../features/identity/users/queries.ts'
import { currentSettings } from '../features/instance/settings/queries.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../features/projects/projects/policy.ts'
import { findProjectById, loadProjectSubject } from '../features/projects/projects/queries.ts'
import { deployKeyRight } from '../features/repository/deploy-keys/queries.ts'
import { deployTokenReaches } from '../features/repository/deploy-tokens/queries.ts'
import { sharedBranches } from '../features/repository/repositories/rights.ts'
import { Developer, Guest } from '../lib/levels.ts'
import { accessDenied, accountBlocked } from './credentials.ts'
import type { Principal } from './principal.ts'
import type { RepositoryLocation } from './locations.ts'

export interface GitOperation {
  readonly verb: 'fetch' | 'push'
  readonly over: 'http' | 'ssh' | 'lfs'
}

export interface Facts extends GitOperation {
  readonly principal: Principal
  readonly wiki: boolean
  /** The project with the user's access. For a deploy key or token: with the access of an anonymous visitor. */
  readonly subject: ProjectSubject
  /** The access that the project grants to a deploy key or token. Null without one. */
  readonly granted: { readonly fetch: boolean; readonly push: boolean } | null
  /** Whether any branch is shared with the user. The gate checks which one. */
  readonly shared: boolean
  /** The project does not accept job tokens of the job's project. */
  readonly isKeptOut: boolean
  readonly isInstanceReadOnly: boolean
  /** The only enabled protocol of the instance. Null if both are enabled. */
  readonly onlyProtocol: string | null
}

export async function learnFacts(
  app: App,
  principal: Principal,
  { project, wiki }: RepositoryLocation,
  operation: GitOperation,
): Promise<Facts> {
  const granted = await grantedTo(app, principal, project.id)
  const { enabled_git_access_protocol: only } = await currentSettings(app)
  const subject = await loadProjectSubject(app, project, granted ? null : principal.user)
  const isOutsider = operation.verb === 'push' && !wiki && !granted && subject.level < Developer
  const shared = isOutsider && (await sharedBranches(app, principal.user, project)).size > 0
  const { job } = principal
  const isKeptOut = job !== undefined && !(await isLetIn(app.db, { from: job.project_id, to: project.id }))
  return {
    ...operation,
    principal,
    wiki,
    subject,
    granted,
    shared,
    isKeptOut,
    isInstanceReadOnly: app.config.readOnly,
    onlyProtocol: only || null,
  }
}

/**
 * Loads the facts of the same operation again, because users and projects may change while a pack is received. Null if
 * the project no longer exists.
 */
export async function reloadFacts(
  app: App,
  { principal, verb, over }: Facts,
  location: RepositoryLocation,
): Promise<{ facts: Facts; location: RepositoryLocation } | null> {
  const project = await findProjectById(app.db, location.project.id)
  if (!project) return null
  const user = principal.user && (await findUser(app.db, principal.user.id))
  const facts = await learnFacts(app, { ...principal, user }, { ...location, project }, { verb, over })
  return { facts, location: { ...location, project, namespace: facts.subject.namespace } }
}

async function grantedTo(
  app: App,
  { deployKeyId, deployToken }: Principal,
  projectId: number,
): Promise<Facts['granted']> {
  if (deployToken) return { fetch: await deployTokenReaches(app.db, deployToken, projectId), push: false }
  if (deployKeyId === undefined) return null
  const right = await deployKeyRight(app.db, deployKeyId, projectId)
  return { fetch: right !== null, push: right === 'write' }
}

const isAnonymous = ({ principal }: Facts) => principal.via === 'nothing'
const isBlocked = ({ principal, granted }: Facts) =>
  !granted && principal.user !== null && principal.user.state !== 'active'

/** An LFS token is valid for one project only. */
const isElsewhere = ({ principal, subject }: Facts) =>
  principal.projectId !== undefined && principal.projectId !== subject.project.id

const isReadable = (f: Facts) => !isElsewhere(f) && !f.isKeptOut && (f.granted?.fetch || projectPolicy.read(f.subject))

/** Counts as a member: a user with a role, or a key or token that the project itself has granted access. */
function isOn({ granted, subject, wiki }: Facts): boolean {
  const level = granted?.fetch ? Math.max(subject.level, Guest) : subject.level
  return hasFeature({ project: subject.project, level }, wiki ? 'wiki' : 'repository')
}

/** A wiki has its own feature switch. Deploy keys of the project may read it, but deploy tokens may not. */
function maySee(f: Facts): boolean {
  const isLetIn = f.granted?.fetch && !(f.wiki && f.principal.deployToken)
  return isOn(f) && (isLetIn || projectPolicy.readCode(f.subject))
}

const mayWrite = (f: Facts) => isOn(f) && ((!f.wiki && f.granted?.push) || f.subject.level >= Developer || f.shared)

interface Check {
  readonly fails: (facts: Facts) => boolean
  readonly refusal: (facts: Facts) => Refusal
}

const forbids = (text: string) => () => new Refusal('forbidden', text)

export const NO_PROJECT = "The project you were looking for could not be found or you don't have permission to view it."
export const projectNotFound = () => new Refusal('not_found', NO_PROJECT)

const pushToReadOnly = () =>
  new Refusal('forbidden', 'This instance is read-only: you can fetch, but not push.', { reason: 'read_only' })

/** A caller without a credential gets a challenge wherever another answer would reveal something. */
const EVERY: readonly Check[] = [
  {
    fails: ({ over, onlyProtocol }) => over !== 'lfs' && onlyProtocol !== null && onlyProtocol !== over,
    refusal: ({ over }) => new Refusal('forbidden', `Git access over ${over.toUpperCase()} is not allowed`),
  },
  { fails: isBlocked, refusal: accountBlocked },
  { fails: (f) => !isReadable(f) && isAnonymous(f), refusal: () => accessDenied() },
  { fails: (f) => !isReadable(f), refusal: projectNotFound },
]

const FETCH: readonly Check[] = [
  { fails: (f) => !maySee(f) && isAnonymous(f), refusal: () => accessDenied() },
  {
    fails: (f) => !maySee(f) || !f.principal.mayFetch,
    refusal: forbids('You are not allowed to download code from this project.'),
  },
]

const PUSH: readonly Check[] = [
  { fails: ({ isInstanceReadOnly }) => isInstanceReadOnly, refusal: () => pushToReadOnly() },
  { fails: isAnonymous, refusal: () => accessDenied() },
  {
    fails: ({ principal }) => !principal.mayPush,
    refusal: forbids('You are not allowed to upload code for this project.'),
  },
  {
    fails: (f) => f.principal.deployKeyId !== undefined && !f.granted?.push && !f.wiki,
    refusal: forbids('This deploy key does not have write access to this project.'),
  },
  {
    fails: (f) => f.wiki && !mayWrite(f),
    refusal: forbids("You are not allowed to write to this project's wiki."),
  },
  { fails: (f) => !mayWrite(f), refusal: forbids('You are not allowed to push code to this project.') },
  {
    fails: ({ subject }) => subject.project.archived,
    refusal: forbids("You can't push code to an archived project."),
  },
]

/** The reason for a rejection, in words that a git client shows its user. Null if access is allowed. */
export function denialOf(facts: Facts): Refusal | null {
  const checks = [...EVERY, ...(facts.verb === 'fetch' ? FETCH : PUSH)]
  return checks.find(({ fails }) => fails(facts))?.refusal(facts) ?? null
}
