package extract

// registry is every language that Exhibit reads.
var registry = sorted(&textSpec)
