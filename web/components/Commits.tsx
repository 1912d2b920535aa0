/** A list of commits, by day. */
import type { Records } from '../api.ts'
import { below, type Project } from '../layout/project.tsx'
import { locationAddress } from '../refs.ts'
import { Avatar } from './Avatar.tsx'
import { Icon } from './Icon.tsx'
import { Row, Rows } from './lists.tsx'
import { Time } from './Time.tsx'
import { rich } from '../rich.ts'
import * as common from '../texts/common.ts'
import * as t from '../texts/repository.ts'
import './Commits.css'

type Commit = Records['Commit']

export function Commits({ project, commits }: { project: Project; commits: readonly Commit[] }) {
  const days = Map.groupBy(commits, ({ committed_date }) => committed_date.slice(0, 10))
  return (
    <>
      {[...days].map(([day, ofDay]) => (
        <section key={day}>
          <h2 class="day">
            <Icon name="commit" /> {day}
          </h2>
          <Rows label={t.commitsOfDay(day)}>
            {ofDay.map((commit) => (
              <CommitRow project={project} commit={commit} key={commit.id} />
            ))}
          </Rows>
        </section>
      ))}
    </>
  )
}

export const CommitRow = ({ project, commit }: { project: Project; commit: Commit }) => (
  <Row
    lead={<Avatar of={{ name: commit.author_name }} />}
    title={<a href={below(project, `commit/${commit.id}`)}>{commit.title}</a>}
    facts={rich(t.authorNameCommittedTime, {
      authorName: commit.author_name,
      time: <Time at={commit.committed_date} />,
    })}
    aside={
      <>
        <a href={below(project, `commit/${commit.id}`)}>
          <code>{commit.short_id}</code>
        </a>
        <a
          href={locationAddress(project, 'tree', commit.id)}
          aria-label={t.browseFilesAt(commit.short_id)}
          title={t.browseFiles}
        >
          <Icon name="folder" />
        </a>
      </>
    }
  />
)

/** The newest commit, above the file list. */
export const LastCommit = ({ project, commit, history }: { project: Project; commit: Commit; history: string }) => (
  <div class="last-commit">
    <Avatar of={{ name: commit.author_name }} />
    <span class="last-commit-title">
      <strong>{commit.author_name}</strong> <a href={below(project, `commit/${commit.id}`)}>{commit.title}</a>
    </span>
    <span class="quiet">
      <code>{commit.short_id}</code> <Time at={commit.committed_date} />
    </span>
    <a href={history}>{common.history}</a>
  </div>
)
