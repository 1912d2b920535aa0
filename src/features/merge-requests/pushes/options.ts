/** `git push -o merge_request.create -o merge_request.target=master …`, also spelt `mr.create`. */

export interface PushOptions {
  readonly create: boolean
  readonly target?: string
  readonly target_project?: string
  readonly title?: string
  readonly description?: string
  readonly milestone?: string
  readonly labels: readonly string[]
  readonly unlabels: readonly string[]
  readonly assign: readonly string[]
  readonly unassign: readonly string[]
  readonly draft: boolean
  readonly squash: boolean
  readonly remove_source_branch: boolean
  readonly auto_merge: boolean
}

const FLAGS = {
  create: 'create',
  draft: 'draft',
  squash: 'squash',
  remove_source_branch: 'remove_source_branch',
  merge_when_pipeline_succeeds: 'auto_merge',
  auto_merge: 'auto_merge',
} as const
const TEXTS = ['target', 'target_project', 'title', 'description', 'milestone'] as const
const LISTS = { label: 'labels', unlabel: 'unlabels', assign: 'assign', unassign: 'unassign' } as const

/** Further values of one kind are ignored. */
const MOST = 100
const LONGEST = 10_000

export const isMergeRequestOption = (option: string): boolean => /^(?:merge_request|mr)\./.test(option)

/** Null if no option is for merge requests. Unknown options are ignored. */
export function mergeRequestOptions(options: readonly string[]): PushOptions | null {
  const found: Record<string, unknown> = {}
  const lists: Record<string, string[]> = { labels: [], unlabels: [], assign: [], unassign: [] }
  let isAny = false
  for (const option of options) {
    const [, name = '', value = ''] =
      /^(?:merge_request|mr)\.([a-z_]+)(?:=(.*))?$/s.exec(option.slice(0, LONGEST)) ?? []
    if (name in FLAGS) found[FLAGS[name as keyof typeof FLAGS]] = value !== 'false'
    else if ((TEXTS as readonly string[]).includes(name)) found[name] = value.replaceAll('\\n', '\n')
    else if (name in LISTS) {
      const list = lists[LISTS[name as keyof typeof LISTS]]!
      if (list.length < MOST && value !== '') list.push(value)
    } else continue
    isAny = true
  }
  if (!isAny) return null
  return {
    create: false,
    draft: false,
    squash: false,
    remove_source_branch: false,
    auto_merge: false,
    ...found,
    ...lists,
  } as unknown as PushOptions
}
