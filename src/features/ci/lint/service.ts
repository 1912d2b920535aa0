/** Validates configurations without running them. */
import type { Context } from '../../../ci/config/context.ts'
import type { Report } from '../../../ci/config/report.ts'
import type { App } from '../../../context.ts'
import { findCommit } from '../../../git/objects/commits.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { NO_OBJECT } from '../../../git/refs/update.ts'
import { findTemplate } from '../../instance/templates/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { compileConfiguration } from '../pipelines/compiling.ts'
import { contextFor } from '../pipelines/configuration.ts'
import { wholeRef } from '../pipelines/create.ts'
import { serverOf, serverVariables } from '../pipelines/predefined.ts'
import { parseRefName } from '../pipelines/refs.ts'
import { isProtectedRef, mayRunOn } from '../pipelines/rights.ts'
import { settingsFor } from '../variables/queries.ts'

export interface LintRef {
  /** A branch or a tag. */
  readonly ref: string
  readonly tag: boolean
  readonly sha: string
}

/** The default branch, unless the caller names another ref. Null if the branch or tag does not exist. */
export async function lintRef({ dir, project }: RepositorySubject, refName?: string | null): Promise<LintRef | null> {
  // The validated text may be the first file of an empty repository.
  if (!refName && project.empty_repo) return { ref: project.default_branch, tag: false, sha: NO_OBJECT }
  const given = refName || project.default_branch
  const named = parseRefName(given)
  if (!named) return null
  for (const tag of named.tag === undefined ? [false, true] : [named.tag]) {
    const sha = await resolveRef(dir, wholeRef(named.ref, tag))
    if (sha !== null) return { ref: named.ref, tag, sha }
  }
  return null
}

/** Validates the text as the configuration of a pipeline on that branch. */
export async function lintFor(
  app: App,
  subject: RepositorySubject,
  text: string,
  target: LintRef,
  { dryRun }: { dryRun: boolean },
): Promise<Report> {
  const { project } = subject
  const mayRun = await mayRunOn(app, subject, target)
  const isProtected = await isProtectedRef(app, project.id, target)
  const commit = target.sha === NO_OBJECT ? null : await findCommit(subject.dir, target.sha)
  const facts = {
    ref: target.ref,
    tag: target.tag,
    sha: target.sha,
    before_sha: NO_OBJECT,
    source: 'push' as const,
    protected: isProtected,
  }
  // A caller who may not run pipelines must not learn the values of variables.
  const settings = mayRun ? await settingsFor(app, { project, isProtected }) : []
  const request = { subject, facts, commit, settings }
  return compileConfiguration(app, text, await contextFor(app, request), { plan: dryRun, details: true })
}

/** Validates without a project: reads no includes except templates, which are public. */
export async function lintAlone(app: App, text: string): Promise<Report> {
  const context: Context = {
    path: '.gitlab-ci.yml',
    tree: { project: '', sha: NO_OBJECT },
    ref: 'main',
    tag: false,
    source: 'push',
    default_branch: 'main',
    predefined: serverVariables(await serverOf(app)),
    variables: [],
    changedPaths: async () => null,
    paths: async () => null,
    async readInclude(include) {
      const template =
        include.type === 'template'
          ? await findTemplate('gitlab_ci_ymls', include.name.replace(/\.gitlab-ci\.yml$/, ''))
          : null
      return template ? { text: template.content, tree: null } : { failure: 'not_allowed' }
    },
  }
  return compileConfiguration(app, text, context, { plan: false, details: true })
}
