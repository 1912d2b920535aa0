/** A folder of job artifacts. */
import type { Listed, Records } from '../../../../../api.ts'
import { below, projectFrame, type InProject, type Project } from '../../../../../layout/project.tsx'
import { page as declare, type Page } from '../../../../../page.ts'
import { CiTabs, Size, type Job } from '../../../../../components/CiParts.tsx'
import { Icon } from '../../../../../components/Icon.tsx'
import { Empty, Pages } from '../../../../../components/lists.tsx'
import { rich } from '../../../../../rich.ts'
import * as common from '../../../../../texts/common.ts'
import * as t from '../../../../../texts/ci.ts'
import './ArtifactBrowser.css'

interface Data {
  job: Job
  entries: Listed<Records['ArtifactEntry'][]>
}

/** The page of the archive's root and of each of its folders. */
export const artifactPage: Page<Data, InProject> = declare<Data, InProject>({
  frame: projectFrame,
  load({ api, params, query }) {
    const of = { id: params.id!, job_id: params.job! }
    return {
      job: api.get('/projects/{id}/jobs/{job_id}', of),
      entries: api.list('/projects/{id}/jobs/{job_id}/artifacts_tree', {
        ...of,
        path: params.path ?? '',
        page: Number(query.get('page')) || 1,
        per_page: 100,
      }),
    }
  },
  title: ({ job }, { params }) => t.pathOfName(params.path || t.artifacts, job.name),
  View: ({ project, job, entries, params }) => (
    <>
      <CiTabs project={project} at="jobs" />
      <div class="head ci-head">
        <div>
          <h1>{t.artifacts}</h1>
          <p class="quiet">
            {rich(t.ofName(job.id), { name: <a href={below(project, `jobs/${job.id}`)}>{job.name}</a> })}
          </p>
        </div>
        <a class="button" href={below(project, `jobs/${job.id}/artifacts/download`)} download>
          <Icon name="download" /> {t.downloadAll}
        </a>
      </div>
      <FolderTrail project={project} job={job} path={params.path ?? ''} />
      {entries.items.length === 0 ? (
        <Empty title={t.thisFolderIsEmpty} />
      ) : (
        <ul class="files" aria-label={common.files}>
          {entries.items.map((entry) => (
            <li key={entry.path}>
              <Icon name={entry.type === 'tree' ? 'folder' : 'file'} />
              <a href={addressOf(project, job, entry)}>{entry.name}</a>
              <span class="quiet ci-file-size">
                <Size bytes={entry.size} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <Pages of={entries} />
    </>
  ),
})

const encoded = (path: string) => path.split('/').map(encodeURIComponent).join('/')

const addressOf = (project: Project, { id }: Job, { type, path }: Records['ArtifactEntry']) =>
  below(project, `jobs/${id}/artifacts/${type === 'tree' ? 'browse' : 'raw'}/${encoded(path)}`)

function FolderTrail({ project, job, path }: { project: Project; job: Job; path: string }) {
  const parts = path.split('/').filter(Boolean)
  return (
    <nav class="row ci-folder" aria-label={common.folder}>
      <a href={below(project, `jobs/${job.id}/artifacts/browse`)}>{job.name}</a>
      {parts.map((part, n) => (
        <span key={n}>
          <span class="quiet">/ </span>
          <a href={below(project, `jobs/${job.id}/artifacts/browse/${encoded(parts.slice(0, n + 1).join('/'))}`)}>
            {part}
          </a>
        </span>
      ))}
    </nav>
  )
}
