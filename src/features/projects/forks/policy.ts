import { hasFeature, projectPolicy, type ProjectSubject } from '../projects/policy.ts'

/** Whoever may read the code may fork it, unless the project keeps its code or its forks to members or to nobody. */
export const mayFork = (subject: ProjectSubject): boolean =>
  projectPolicy.readCode(subject) && hasFeature(subject, 'repository') && hasFeature(subject, 'forking')
