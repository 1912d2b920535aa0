import { hasFeature, projectPolicy, type ProjectSubject } from '../projects/policy.ts'

/**
 * Users who may read the code may fork it, unless the project restricts its code or its forks to members or disables
 * them.
 */
export const mayFork = (subject: ProjectSubject): boolean =>
  projectPolicy.readCode(subject) && hasFeature(subject, 'repository') && hasFeature(subject, 'forking')
