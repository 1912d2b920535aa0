/** Contexts to parse CI configurations in, for tests. */
import type { Context, Include } from '../src/ci/config/context.ts'

export interface ConfigOptions extends Partial<Omit<Context, 'changedPaths' | 'paths' | 'readInclude'>> {
  readonly changed?: readonly string[] | null
  readonly files?: Readonly<Record<string, string>>
  readonly remote?: Readonly<Record<string, string>>
  readonly vars?: Readonly<Record<string, string>>
}

const textOf = (include: Include, { files = {}, remote = {} }: ConfigOptions): string | undefined => {
  if (include.type === 'local' || include.type === 'project') return files[include.path]
  if (include.type === 'remote') return remote[include.url]
  return remote[
    include.type === 'template' ? include.name : include.type === 'component' ? include.address : include.path
  ]
}

/** A push to `main` of `group/project` by default. */
export function ciContext({ changed = null, vars = {}, ...input }: ConfigOptions = {}): Context {
  const source = input.source ?? 'push'
  const ref = input.ref ?? 'main'
  const predefined = {
    CI: 'true',
    CI_PIPELINE_SOURCE: source,
    CI_COMMIT_REF_NAME: ref,
    CI_DEFAULT_BRANCH: 'main',
    ...(input.tag ? { CI_COMMIT_TAG: ref } : source === 'merge_request_event' ? {} : { CI_COMMIT_BRANCH: ref }),
    ...vars,
  }
  return {
    path: '.gitlab-ci.yml',
    tree: { project: 'group/project', sha: 'a'.repeat(40) },
    ref,
    tag: false,
    source,
    default_branch: 'main',
    predefined: Object.entries(predefined).map(([key, value]) => ({ key, value })),
    variables: [],
    changedPaths: async () => changed,
    paths: async () => Object.keys(input.files ?? {}),
    readInclude: async (include, from) => {
      const text = textOf(include, input)
      if (text === undefined) return { failure: include.type === 'remote' ? 404 : 'no_file' }
      return { text, tree: include.type === 'remote' ? null : from }
    },
    ...input,
  }
}
