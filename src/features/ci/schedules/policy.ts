import { policy } from '../../../api/endpoint.ts'
import { Developer, Master, Reporter } from '../../../lib/levels.ts'
import { hasFeature } from '../../projects/projects/policy.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { ciPolicy } from '../pipelines/policy.ts'
import type { Schedule } from './model.ts'

export const schedulesPolicy = policy<RepositorySubject>()({
  ...ciPolicy,
  readSchedules: (s) => hasFeature(s, 'builds') && s.level >= Reporter,
})

export interface ScheduleSubject extends RepositorySubject {
  readonly schedule: Schedule
}

const isOwn = ({ schedule, viewer }: ScheduleSubject) => schedule.owner_id === viewer?.id

export const schedulePolicy = policy<ScheduleSubject>()({
  read: (s: ScheduleSubject) => schedulesPolicy.read(s),
  update: (s) =>
    hasFeature(s, 'builds') && (s.level >= Master || (s.level >= Developer && isOwn(s))) && !s.project.archived,
  takeOver: (s) => hasFeature(s, 'builds') && s.level >= Master && !s.project.archived,
})
