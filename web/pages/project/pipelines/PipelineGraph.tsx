/** A pipeline graph by stages, with lines for `needs`; the same as a list below it. */
import { BOX, drawGraph, shortened, type GraphJob, type PositionedJob, type Stage } from './graph.ts'
import { outside } from '../../../outside.ts'
import { Icon } from '../../../components/Icon.tsx'
import { State, lookOf } from '../../../components/State.tsx'
import { Duration } from '../../../components/Time.tsx'
import * as t from '../../../texts/ci.ts'
import './PipelineGraph.css'

/** Larger pipelines are only listed: the graph would be unreadable. */
const MOST_DRAWN = 300

export function PipelineGraph({ stages }: { stages: readonly Stage[] }) {
  const count = stages.reduce((sum, { jobs }) => sum + jobs.length, 0)
  const isDrawn = count <= MOST_DRAWN
  return (
    <>
      {isDrawn && <Drawn stages={stages} />}
      <details class="pipeline-list" open={!isDrawn}>
        <summary>{isDrawn ? t.viewAsList : t.jobCount(count)}</summary>
        <StageList stages={stages} />
      </details>
    </>
  )
}

function Drawn({ stages }: { stages: readonly Stage[] }) {
  const { width, height, heads, jobs, lines } = drawGraph(stages)
  return (
    <div class="pipeline-graph" tabIndex={0} role="region" aria-label={t.stagesAndJobs}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {heads.map(({ name, x }) => (
          <text class="graph-head" x={x} y={18} key={x}>
            <title>{name}</title>
            {shortened(name, 24)}
          </text>
        ))}
        <g class="graph-lines" aria-hidden="true">
          {lines.map(({ from, to, path }) => (
            <path d={path} key={`${from} ${to}`} />
          ))}
        </g>
        {jobs.map((node) => (
          <JobBox {...node} key={node.job.id} />
        ))}
      </svg>
    </div>
  )
}

function JobBox({ job, x, y }: PositionedJob) {
  const [tone, icon, word] = lookOf(job.status)
  const label = `${job.name}: ${word}${job.status === 'failed' && job.allow_failure ? t.allowedToFailSuffix : ''}`
  const content = (
    <>
      <title>{label}</title>
      <rect width={BOX.width} height={BOX.height} rx="6" />
      <g transform="translate(9 8)" class="graph-icon" data-tone={tone}>
        <Icon name={icon} />
      </g>
      <text x="32" y="21" aria-hidden="true">
        {shortened(job.name)}
      </text>
    </>
  )
  const attributes = {
    transform: `translate(${x} ${y})`,
    class: 'graph-job',
    'data-tone': tone,
    'data-state': job.status,
  }
  return job.web_url ? (
    <a href={outside(job.web_url)} {...attributes}>
      {content}
    </a>
  ) : (
    <g {...attributes}>{content}</g>
  )
}

const StageList = ({ stages }: { stages: readonly Stage[] }) => (
  <ol class="ci-stages">
    {stages.map(({ name, jobs }) => (
      <li key={name}>
        <strong>{name}</strong>
        <ul>
          {jobs.map((job) => (
            <li class="row" key={job.id}>
              <State of={job.status} isShort />
              {job.web_url ? <a href={outside(job.web_url)}>{job.name}</a> : job.name}
              <span class="quiet">
                {job.duration !== null && <Duration seconds={job.duration} />} <Needs of={job} />
              </span>
            </li>
          ))}
        </ul>
      </li>
    ))}
  </ol>
)

function Needs({ of }: { of: GraphJob }) {
  if (of.needs === null) return null
  return <>{of.needs.length === 0 ? t.noDependencies : t.needsJobs(of.needs.join(', '))}</>
}
