/** Texts of groups. */
import { plural } from './common.ts'

export const noParentTopLevelGroup = 'No parent: top-level group'

// Group, edit

export const transferGroup = 'Transfer group'
export const developersAndAbove = 'Developers and above'
export const maintainersAndAbove = 'Maintainers and above'
export const maintainersAndOwners = 'Maintainers and owners'
export const allowUsersToRequestAccess = 'Allow users to request access'
export const preventSharingProjectsWithOtherGroups = 'Prevent sharing projects with other groups'
export const lockProjectMembership = 'Lock project membership'
export const sendEmailNotifications = 'Send email notifications'
export const rolesThatCanCreateProjects = 'Roles that can create projects'
export const rolesThatCanCreateSubgroups = 'Roles that can create subgroups'
export const pathAndTransfer = 'Path and transfer'
export const changesUrlsOfAllProjects = 'Changes the URLs of all projects in this group.'
export const transferThisGroup = 'Transfer this group?'
export const newParentGroup = 'New parent group'
export const deletedProjectsAndSubgroups = 'Deleted projects and subgroups'
export const deleteThisGroup = 'Delete this group'
export const deletesAllProjectsAndSubgroups = (lastDay: string | null) =>
  `Deletes all projects and subgroups. ${
    lastDay === null ? 'The deletion is permanent.' : `Owners can restore the group until ${lastDay}.`
  }`
export const groupDeleted = (path: string, lastDay: string | null) =>
  lastDay === null
    ? `Group ${path} deleted permanently`
    : `Group ${path} deleted. Owners can restore the group until ${lastDay}.`
export const deleteGroup = 'Delete group'

// Group

export const members = (members: number) => `${members} ${plural(members, 'member')}`
export const requestAccess = 'Request access'
export const newSubgroup = 'New subgroup'
export const subgroups = 'Subgroups'
export const createProject = 'Create a project'
export const searchProjectsAndSubgroups = 'Search projects and subgroups'
export const noProjectsYet = 'No projects yet'

// Group, settings, ldap

export const ldapSynchronization = 'LDAP synchronization'
export const membersOfTheseLdapGroups = 'Members of these LDAP groups become members of this group.'
export const addLink = 'Add link'
export const syncNow = 'Sync now'
export const addLdapLink = 'Add LDAP link'
export const provider = 'Provider'
export const groupCn = 'Group (cn)'
export const enterGroupOrFilterNotBoth = 'Enter a group or a filter, not both.'
export const noLdapLinksYet = 'No LDAP links yet'
export const ldapLinks = 'LDAP links'
export const removeLink = 'Remove the link?'

// Groups, new

export const projectsInGroupShareMembers = 'Projects in a group share members, labels, milestones and runners.'
export const createGroup = 'Create group'
export const leaveEmptyToGenerateSlug = 'Leave empty to generate the slug from the name.'
export const parentGroup = 'Parent group'
