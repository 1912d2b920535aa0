/** Breadcrumbs of a file or folder: each part is a link, the last one is the current page. */
import type { Project } from '../layout/project.tsx'
import { locationAddress } from '../refs.ts'

export function Crumbs({ project, refName, path }: { project: Project; refName: string; path: string }) {
  const parts = path.split('/').filter(Boolean)
  const last = parts.pop()
  return (
    <h1 class="crumbs">
      <a href={locationAddress(project, 'tree', refName)}>{project.path}</a>
      {parts.map((part, n) => (
        <span key={part + n}>
          {' / '}
          <a href={locationAddress(project, 'tree', refName, parts.slice(0, n + 1).join('/'))}>{part}</a>
        </span>
      ))}
      {last && (
        <span>
          {' / '}
          {last}
        </span>
      )}
    </h1>
  )
}
