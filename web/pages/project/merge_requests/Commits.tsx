/** Commits in a list. */
import type { Records } from '../../../api.ts'
import { Icon } from '../../../components/Icon.tsx'
import { Time } from '../../../components/Time.tsx'
import { Row, Rows } from '../../../components/lists.tsx'
import { below } from '../../../layout/project.tsx'
import * as common from '../../../texts/common.ts'

interface CommitRowsProps {
  commits: readonly Records['Commit'][]
  project: { path_with_namespace: string }
}

export const CommitRows = ({ commits, project }: CommitRowsProps) => (
  <Rows label={common.commits}>
    {commits.map((commit) => (
      <Row
        key={commit.id}
        lead={<Icon name="commit" />}
        title={<a href={below(project, `commit/${commit.id}`)}>{commit.title}</a>}
        facts={
          <>
            {commit.author_name} <Time at={commit.committed_date} />
          </>
        }
        aside={<code>{commit.short_id}</code>}
      />
    ))}
  </Rows>
)
