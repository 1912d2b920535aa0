/** Switches the page to another branch or tag. */
import type { Api, Records } from '../api.ts'
import { below, type Project } from '../layout/project.tsx'
import { locationAddress } from '../refs.ts'
import { Icon } from './Icon.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/repository.ts'
import './RefPicker.css'

export interface Refs {
  branches: Records['Branch'][]
  tags: Records['Tag'][]
}

const MOST = 20

export async function loadRefs(api: Api, id: string): Promise<Refs> {
  const [branches, tags] = await Promise.all([
    api.maybe('/projects/{id}/repository/branches', { id, per_page: MOST }),
    api.maybe('/projects/{id}/repository/tags', { id, per_page: MOST }),
  ])
  return { branches: branches ?? [], tags: tags ?? [] }
}

/** The default branch first, also if it is not among the loaded ones. */
export const branchNames = ({ default_branch: first }: Project, { branches }: Refs): string[] => [
  ...(first && branches.length > 0 ? [first] : []),
  ...branches.map(({ name }) => name).filter((name) => name !== first),
]

interface RefPickerProps {
  project: Project
  refs: Refs
  current: string
  kind: 'tree' | 'blob' | 'blame' | 'commits' | 'graphs' | 'find_file' | 'network'
  path?: string
}

export function RefPicker({ project, refs, current, kind, path = '' }: RefPickerProps) {
  const item = (name: string) => (
    <a
      href={locationAddress(project, kind, name, path)}
      aria-current={name === current ? 'true' : undefined}
      key={name}
    >
      {name}
    </a>
  )
  return (
    <details class="menu ref-picker">
      <summary class="button">
        <Icon name="branch" />{' '}
        <span class="ref-name">{/^[0-9a-f]{40}$/.test(current) ? current.slice(0, 8) : current}</span>
        <Icon name="down" />
      </summary>
      <div class="menu-items">
        <strong>{common.branches}</strong>
        {branchNames(project, refs).map(item)}
        <a class="quiet" href={below(project, 'branches')}>
          {common.allBranches}
        </a>
        {refs.tags.length > 0 && (
          <>
            <strong>{common.tags}</strong>
            {refs.tags.map(({ name }) => item(name))}
            <a class="quiet" href={below(project, 'tags')}>
              {t.allTags}
            </a>
          </>
        )}
      </div>
    </details>
  )
}
